namespace Treepie.Indexing.Automata;

/// <summary>
/// A pattern as states and the steps between them, from which <see cref="TermAutomaton"/> makes what runs. Built from the end to
/// the start: whoever adds a state names the one behind it. <see cref="Dead"/> stands for what can never match, so every state
/// leads to a match.
/// </summary>
internal sealed class Nfa
{
    /// <summary>
    /// Most states: a pattern of a thousand characters has about as many, repetitions of repetitions multiply them.
    /// </summary>
    public const int MaxStates = 20_000;

    /// <summary>The state that does not exist.</summary>
    public const int Dead = -1;

    private readonly List<NfaState> states = [];
    private readonly Dictionary<CharacterSet, int> setNumbers = [];
    private readonly List<CharacterSet> sets = [];

    /// <summary>Where it begins.</summary>
    public int Start { get; set; } = Dead;

    public int Count => states.Count;

    /// <summary>The different sets of its steps.</summary>
    public IReadOnlyList<CharacterSet> Sets => sets;

    public NfaState this[int state] => states[state];

    /// <summary>A text that has come here matches if it ends here.</summary>
    public int AddMatch() => Add(new NfaState(NfaStateKind.Match, Dead, Dead, 0));

    /// <summary>A text that has come here matches, whatever follows.</summary>
    public int AddMatchRest() => Add(new NfaState(NfaStateKind.MatchRest, Dead, Dead, 0));

    /// <summary>Takes one character of a set.</summary>
    public int AddSet(CharacterSet set, int next)
    {
        if (set.IsEmpty || next == Dead)
            return Dead;
        if (!setNumbers.TryGetValue(set, out int number))
        {
            setNumbers.Add(set, number = sets.Count);
            sets.Add(set);
        }

        return Add(new NfaState(NfaStateKind.Set, next, Dead, number));
    }

    /// <summary>Goes on at either of two states.</summary>
    public int AddSplit(int next, int other)
    {
        if (next == Dead || other == Dead)
            return next == Dead ? other : next;
        return Add(new NfaState(NfaStateKind.Split, next, other, 0));
    }

    /// <summary>Goes on only at the start of the text.</summary>
    public int AddAtStart(int next) => next == Dead ? Dead : Add(new NfaState(NfaStateKind.AtStart, next, Dead, 0));

    /// <summary>Goes on only at the end of the text.</summary>
    public int AddAtEnd(int next) => next == Dead ? Dead : Add(new NfaState(NfaStateKind.AtEnd, next, Dead, 0));

    /// <summary>What <paramref name="body"/> makes, any number of times, also none.</summary>
    public int AddLoop(Func<int, int> body, int next)
    {
        if (next == Dead)
            return Dead;

        int loop = Add(new NfaState(NfaStateKind.Split, next, next, 0));
        int start = body(loop);
        if (start != Dead)
            states[loop] = states[loop] with { Other = start };
        return loop;
    }

    private int Add(NfaState state)
    {
        if (states.Count >= MaxStates)
            throw new IndexQueryException(
                $"The pattern is too complicated: written out it has more than {MaxStates:N0} steps. Use fewer or smaller "
                    + $"repetitions.")
            { IsOfPattern = true };
        states.Add(state);
        return states.Count - 1;
    }
}

/// <summary>A state: what it does, and where it leads.</summary>
internal readonly record struct NfaState(NfaStateKind Kind, int Next, int Other, int Set);

/// <summary>Kinds of <see cref="NfaState"/>.</summary>
internal enum NfaStateKind : byte
{
    /// <summary>Takes a character of a set.</summary>
    Set,

    /// <summary>Goes on at two states.</summary>
    Split,

    /// <summary>Goes on at the start of the text.</summary>
    AtStart,

    /// <summary>Goes on at the end of the text.</summary>
    AtEnd,

    /// <summary>Matches at the end of the text.</summary>
    Match,

    /// <summary>Matches.</summary>
    MatchRest,
}
