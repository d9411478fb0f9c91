using System.Diagnostics;

namespace Treepie.Indexing.Automata;

/// <summary>
/// A pattern as a nondeterministic automaton, which <see cref="TermAutomaton"/> makes deterministic. It is built from the
/// end to the start: a new state names its successor. <see cref="Dead"/> stands for failure and is never the successor of a
/// state, so every state leads to a match. Invariant: 1. Successors are existing states.
/// </summary>
internal sealed class Nfa
{
    /// <summary>
    /// Most states. A pattern of a thousand characters has about a thousand, and nested repetitions multiply them.
    /// </summary>
    public const int MaxStates = 20_000;

    /// <summary>The number that means no state: failure.</summary>
    public const int Dead = -1;

    private readonly List<NfaState> _states = [];
    private readonly Dictionary<CharacterSet, int> _setNumbers = [];
    private readonly List<CharacterSet> _sets = [];

    /// <summary>The first state.</summary>
    public int Start { get; set; } = Dead;

    public int Count => _states.Count;

    /// <summary>The distinct character sets of its states.</summary>
    public IReadOnlyList<CharacterSet> Sets => _sets;

    public NfaState this[int state] => _states[state];

    /// <summary>Adds a state that accepts if the text ends here.</summary>
    public int AddMatch() => Add(new NfaState(NfaStateKind.Match, Dead, Dead, 0));

    /// <summary>Adds a state that accepts the text with any continuation.</summary>
    public int AddMatchRest() => Add(new NfaState(NfaStateKind.MatchRest, Dead, Dead, 0));

    /// <summary>Adds a state that consumes one character of a set.</summary>
    public int AddSet(CharacterSet set, int next)
    {
        if (set.IsEmpty || next == Dead)
            return Dead;
        if (!_setNumbers.TryGetValue(set, out int number))
        {
            _setNumbers.Add(set, number = _sets.Count);
            _sets.Add(set);
        }

        return Add(new NfaState(NfaStateKind.Set, next, Dead, number));
    }

    /// <summary>Adds a state that continues at two states.</summary>
    public int AddSplit(int next, int other)
    {
        if (next == Dead || other == Dead)
            return next == Dead ? other : next;
        return Add(new NfaState(NfaStateKind.Split, next, other, 0));
    }

    /// <summary>Adds a state that continues only at the start of the text.</summary>
    public int AddAtStart(int next) => next == Dead ? Dead : Add(new NfaState(NfaStateKind.AtStart, next, Dead, 0));

    /// <summary>Adds a state that continues only at the end of the text.</summary>
    public int AddAtEnd(int next) => next == Dead ? Dead : Add(new NfaState(NfaStateKind.AtEnd, next, Dead, 0));

    /// <summary>Adds zero or more repetitions of <paramref name="body"/>.</summary>
    public int AddLoop(Func<int, int> body, int next)
    {
        if (next == Dead)
            return Dead;

        int loop = Add(new NfaState(NfaStateKind.Split, next, next, 0));
        int start = body(loop);
        if (start != Dead)
            _states[loop] = _states[loop] with { Other = start };
        return loop;
    }

    private int Add(NfaState state)
    {
        if (_states.Count >= MaxStates)
            throw new IndexQueryException(
                $"The pattern is too complicated: written out it has more than {MaxStates:N0} steps. Use fewer or smaller "
                    + $"repetitions.")
            { IsOfPattern = true };
        Debug.Assert(state.Next >= Dead && state.Next < _states.Count && state.Other < _states.Count, "1: successors exist");
        _states.Add(state);
        return _states.Count - 1;
    }
}

/// <summary>A state: its kind, successors and character set.</summary>
internal readonly record struct NfaState(NfaStateKind Kind, int Next, int Other, int Set);

/// <summary>Kinds of <see cref="NfaState"/>.</summary>
internal enum NfaStateKind : byte
{
    /// <summary>Consumes a character of a set.</summary>
    Set,

    /// <summary>Continues at two states.</summary>
    Split,

    /// <summary>Continues at the start of the text.</summary>
    AtStart,

    /// <summary>Continues at the end of the text.</summary>
    AtEnd,

    /// <summary>Matches at the end of the text.</summary>
    Match,

    /// <summary>Matches with any continuation.</summary>
    MatchRest,
}
