using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;

namespace Treepie.Indexing.Automata;

/// <summary>
/// A deterministic automaton over terms: each character takes one step, without backtracking, for any pattern. States are
/// built lazily when a term first reaches them, so that a pattern with a huge number of states costs only those that the
/// terms need. For one query; not thread-safe.
/// </summary>
/// <remarks>
/// Invariants: 1. A state that is not <see cref="IsDead"/> can still match, so a dictionary scan may skip terms whose beginning
/// leads to the dead state. 2. Marks are clear between computations.
/// </remarks>
internal sealed class TermAutomaton
{
    /// <summary>
    /// Most states kept; when there are more, all are dropped and rebuilt. About 4 MiB with a hundred character classes.
    /// </summary>
    private const int MaxKeptStates = 4_096;

    /// <summary>Most pattern states to visit while building states: about a second.</summary>
    private const long MaxWork = 50_000_000;

    private const int Ascii = 128;

    private readonly Nfa _nfa;
    private readonly int[] _intervalStarts;
    private readonly ushort[] _intervalClasses;
    private readonly ushort[] _asciiClasses = new ushort[Ascii];
    private readonly int[] _representatives;
    private readonly Dictionary<StateKey, State> _states = [];
    private readonly State _dead;
    private readonly bool[] _marked;
    private readonly List<int> _reached = [];
    private readonly Stack<int> _open = new();
    private readonly long _maxWork;
    private long _work;

    /// <param name="nfa">The pattern.</param>
    /// <param name="maxWork">Most pattern states to visit while building states.</param>
    public TermAutomaton(Nfa nfa, long maxWork = MaxWork)
    {
        _nfa = nfa;
        _maxWork = maxWork;
        (_intervalStarts, _intervalClasses, _representatives) = Classes(nfa.Sets);
        for (int i = 0; i < Ascii; i++)
            _asciiClasses[i] = _intervalClasses[IntervalOf(i)];
        _marked = new bool[nfa.Count];
        _dead = new State([], false, false, 0);
        Start = nfa.Start == Nfa.Dead ? _dead : Close([nfa.Start], isStart: true);
    }

    /// <summary>The state before the first character.</summary>
    public State Start { get; }

    /// <summary>Whether no continuation from this state can match.</summary>
    public bool IsDead(State state) => state == _dead;

    /// <summary>The state after a character.</summary>
    public State Step(State state, int character)
    {
        if (state.AcceptsRest || state == _dead)
            return state;
        return Take(state, character < Ascii ? _asciiClasses[character] : _intervalClasses[IntervalOf(character)]);
    }

    /// <summary>
    /// The smallest character above <paramref name="character"/> that does not lead to the dead state; -1 if there is none.
    /// </summary>
    public int NextAlive(State state, int character)
    {
        if (state == _dead || state.AcceptsRest)
            return -1; // not needed for a state that accepts everything

        int from = character + 1;
        for (int i = IntervalOf(from); i < _intervalStarts.Length; i++)
        {
            if (Take(state, _intervalClasses[i]) != _dead)
                return Math.Max(from, _intervalStarts[i]);
        }

        return -1;
    }

    /// <summary>Whether a term matches. Invalid UTF-8 is read as U+FFFD.</summary>
    public bool Matches(ReadOnlySpan<byte> term)
    {
        State state = Start;
        while (!term.IsEmpty && !state.AcceptsRest && state != _dead)
        {
            Rune.DecodeFromUtf8(term, out Rune rune, out int length);
            state = Step(state, rune.Value);
            term = term[length..];
        }

        return state.Accepts;
    }

    private State Take(State state, int characterClass)
    {
        Debug.Assert((uint)characterClass < (uint)_representatives.Length, "each character has a class");
        ref State? next = ref state.Next[characterClass];
        return next ??= Find(state, characterClass);
    }

    private State Find(State state, int characterClass)
    {
        Debug.Assert(state != _dead && !state.AcceptsRest, "only a state that depends on the next character is computed");
        int representative = _representatives[characterClass];
        var targets = new List<int>();
        foreach (int member in state.Members)
        {
            NfaState step = _nfa[member];
            if (step.Kind == NfaStateKind.Set && _nfa.Sets[step.Set].Contains(representative))
                targets.Add(step.Next);
        }

        _work += state.Members.Length;
        return targets.Count == 0 ? _dead : Close(targets, isStart: false);
    }

    /// <summary>Returns the state of all pattern states that can be reached without consuming a character.</summary>
    private State Close(List<int> from, bool isStart)
    {
        _reached.Clear();
        bool accepts = Reach(from, isStart, isEnd: false, out bool acceptsRest);
        if (acceptsRest)
            return new State([], true, true, 0);

        int[] members = [.. _reached.Where(member => _nfa[member].Kind is NfaStateKind.Set or NfaStateKind.AtEnd)];
        Array.Sort(members);
        if (!accepts && Array.Exists(members, member => _nfa[member].Kind == NfaStateKind.AtEnd))
        {
            _reached.Clear();
            accepts = Reach([.. members], isStart, isEnd: true, out bool restAtEnd) || restAtEnd;
        }

        if (members.Length == 0 && !accepts)
            return _dead;

        var key = new StateKey(members, accepts);
        if (_states.TryGetValue(key, out State? known))
            return known;
        if (_work > _maxWork)
            throw new IndexQueryException(
                "The pattern is too complicated: it took too many steps to compare it with the terms of the index. Use fewer "
                    + "repetitions and alternatives.")
            { IsOfPattern = true };

        if (_states.Count >= MaxKeptStates)
        {
            Array.Clear(Start.Next); // the constructor builds it before any other
            foreach (State state in _states.Values)
                Array.Clear(state.Next);
            _states.Clear();
        }

        var made = new State(members, accepts, false, _representatives.Length);
        _states.Add(key, made);
        return made;
    }

    private bool Reach(List<int> from, bool isStart, bool isEnd, out bool acceptsRest)
    {
        bool accepts = false;
        acceptsRest = false;
        Debug.Assert(_open.Count == 0 && _reached.Count == 0, "2: a computation starts clean");
        foreach (int state in from)
            _open.Push(state);
        while (_open.TryPop(out int state))
        {
            if (_marked[state])
                continue;
            _marked[state] = true;
            _reached.Add(state);
            NfaState step = _nfa[state];
            switch (step.Kind)
            {
                case NfaStateKind.Split:
                    _open.Push(step.Next);
                    _open.Push(step.Other);
                    break;
                case NfaStateKind.AtStart when isStart:
                case NfaStateKind.AtEnd when isEnd:
                    _open.Push(step.Next);
                    break;
                case NfaStateKind.Match:
                    accepts = true;
                    break;
                case NfaStateKind.MatchRest:
                    acceptsRest = true;
                    break;
            }
        }

        _work += _reached.Count;
        foreach (int state in _reached)
            _marked[state] = false;
        Debug.Assert(_reached.Count <= _nfa.Count, "a pattern state is reached once");
        return accepts;
    }

    private int IntervalOf(int character)
    {
        Debug.Assert(character >= 0, "a character is not negative");
        int place = Array.BinarySearch(_intervalStarts, character);
        return place >= 0 ? place : ~place - 1;
    }

    /// <summary>
    /// Partitions all characters into classes such that no set of the pattern distinguishes the characters of a class.
    /// </summary>
    private static (int[] Starts, ushort[] Classes, int[] Representatives) Classes(IReadOnlyList<CharacterSet> sets)
    {
        var cuts = new SortedSet<int> { 0 };
        foreach (CharacterSet set in sets)
        {
            foreach (int bound in set.Bounds)
                cuts.Add(bound);
        }

        int[] starts = [.. cuts];
        var classes = new ushort[starts.Length];
        int count = 1;
        foreach (CharacterSet set in sets)
        {
            var inside = new Dictionary<ushort, ushort>();
            var outside = new HashSet<ushort>();
            for (int i = 0; i < starts.Length; i++)
            {
                if (!set.Contains(starts[i]))
                    outside.Add(classes[i]);
            }

            for (int i = 0; i < starts.Length; i++)
            {
                if (!set.Contains(starts[i]) || !outside.Contains(classes[i]))
                    continue;
                if (!inside.TryGetValue(classes[i], out ushort split))
                    inside.Add(classes[i], split = checked((ushort)count++));
                classes[i] = split;
            }
        }

        var representatives = new int[count];
        for (int i = starts.Length - 1; i >= 0; i--)
            representatives[classes[i]] = starts[i];
        return (starts, classes, representatives);
    }

    /// <summary>A state of the deterministic automaton.</summary>
    internal sealed class State(int[] members, bool accepts, bool acceptsRest, int classes)
    {
        /// <summary>The pattern states that it represents.</summary>
        public int[] Members { get; } = members;

        /// <summary>Whether a text that ends here matches.</summary>
        public bool Accepts { get; } = accepts;

        /// <summary>Whether a text matches with any continuation.</summary>
        public bool AcceptsRest { get; } = acceptsRest;

        /// <summary>The next state per character class; null if not built yet.</summary>
        public State?[] Next { get; } = new State?[classes];
    }

    private readonly struct StateKey(int[] members, bool accepts) : IEquatable<StateKey>
    {
        private readonly int[] _members = members;
        private readonly bool _accepts = accepts;

        public bool Equals(StateKey other) => _accepts == other._accepts && _members.AsSpan().SequenceEqual(other._members);

        public override bool Equals(object? obj) => obj is StateKey other && Equals(other);

        public override int GetHashCode()
        {
            var hash = default(HashCode);
            hash.AddBytes(MemoryMarshal.AsBytes(_members.AsSpan()));
            hash.Add(_accepts);
            return hash.ToHashCode();
        }
    }
}
