using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;

namespace Treepie.Indexing.Automata;

/// <summary>
/// A deterministic automaton over terms: without backtracking, each character takes one step, for any pattern. States are built
/// lazily when a term first reaches them, so that patterns with huge numbers of states cost only what the terms need. For one
/// query; not thread-safe.
/// </summary>
/// <remarks>
/// Invariants: 1. A state that is not <see cref="IsDead"/> can still match, so a dictionary scan may skip terms whose beginning
/// leads to the dead state. 2. Marks are clear between computations.
/// </remarks>
internal sealed class TermAutomaton
{
    /// <summary>
    /// Most states kept; beyond that all are dropped and rebuilt. About 4 MiB with a hundred character classes.
    /// </summary>
    private const int MaxKeptStates = 4_096;

    /// <summary>Most pattern states to visit while building steps: about a second.</summary>
    private const long MaxWork = 50_000_000;

    private const int Ascii = 128;

    private readonly Nfa nfa;
    private readonly int[] intervalStarts;
    private readonly ushort[] intervalClasses;
    private readonly ushort[] asciiClasses = new ushort[Ascii];
    private readonly int[] representatives;
    private readonly Dictionary<StateKey, State> states = [];
    private readonly State dead;
    private readonly bool[] marked;
    private readonly List<int> reached = [];
    private readonly Stack<int> open = new();
    private readonly long maxWork;
    private long work;

    /// <param name="nfa">The pattern.</param>
    /// <param name="maxWork">Most pattern states to visit while building steps.</param>
    public TermAutomaton(Nfa nfa, long maxWork = MaxWork)
    {
        this.nfa = nfa;
        this.maxWork = maxWork;
        (intervalStarts, intervalClasses, representatives) = Classes(nfa.Sets);
        for (int i = 0; i < Ascii; i++)
            asciiClasses[i] = intervalClasses[IntervalOf(i)];
        marked = new bool[nfa.Count];
        dead = new State([], false, false, 0);
        Start = nfa.Start == Nfa.Dead ? dead : Close([nfa.Start], isStart: true);
    }

    /// <summary>The state before the first character.</summary>
    public State Start { get; }

    /// <summary>Whether no continuation from this state can match.</summary>
    public bool IsDead(State state) => state == dead;

    /// <summary>The state after a character.</summary>
    public State Step(State state, int character)
    {
        if (state.AcceptsRest || state == dead)
            return state;
        return Take(state, character < Ascii ? asciiClasses[character] : intervalClasses[IntervalOf(character)]);
    }

    /// <summary>
    /// The smallest character above <paramref name="character"/> that does not lead to the dead state; -1 if there is none.
    /// </summary>
    public int NextAlive(State state, int character)
    {
        if (state == dead || state.AcceptsRest)
            return -1; // not needed for a state that accepts everything

        int from = character + 1;
        for (int i = IntervalOf(from); i < intervalStarts.Length; i++)
        {
            if (Take(state, intervalClasses[i]) != dead)
                return Math.Max(from, intervalStarts[i]);
        }

        return -1;
    }

    /// <summary>Whether a term matches; broken UTF-8 reads as U+FFFD.</summary>
    public bool Matches(ReadOnlySpan<byte> term)
    {
        State state = Start;
        while (!term.IsEmpty && !state.AcceptsRest && state != dead)
        {
            Rune.DecodeFromUtf8(term, out Rune rune, out int length);
            state = Step(state, rune.Value);
            term = term[length..];
        }

        return state.Accepts;
    }

    private State Take(State state, int characterClass)
    {
        ref State? next = ref state.Next[characterClass];
        return next ??= Find(state, characterClass);
    }

    private State Find(State state, int characterClass)
    {
        int representative = representatives[characterClass];
        var targets = new List<int>();
        foreach (int member in state.Members)
        {
            NfaState step = nfa[member];
            if (step.Kind == NfaStateKind.Set && nfa.Sets[step.Set].Contains(representative))
                targets.Add(step.Next);
        }

        work += state.Members.Length;
        return targets.Count == 0 ? dead : Close(targets, isStart: false);
    }

    /// <summary>The state of all pattern states reachable without a character.</summary>
    private State Close(List<int> from, bool isStart)
    {
        reached.Clear();
        bool accepts = Reach(from, isStart, isEnd: false, out bool acceptsRest);
        if (acceptsRest)
            return new State([], true, true, 0);

        int[] members = [.. reached.Where(member => nfa[member].Kind is NfaStateKind.Set or NfaStateKind.AtEnd)];
        Array.Sort(members);
        if (!accepts && Array.Exists(members, member => nfa[member].Kind == NfaStateKind.AtEnd))
        {
            reached.Clear();
            accepts = Reach([.. members], isStart, isEnd: true, out bool restAtEnd) || restAtEnd;
        }

        if (members.Length == 0 && !accepts)
            return dead;

        var key = new StateKey(members, accepts);
        if (states.TryGetValue(key, out State? known))
            return known;
        if (work > maxWork)
            throw new IndexQueryException(
                "The pattern is too complicated: it took too many steps to compare it with the terms of the index. Use fewer "
                    + "repetitions and alternatives.")
            { IsOfPattern = true };

        if (states.Count >= MaxKeptStates)
        {
            Array.Clear(Start.Next); // the constructor builds it before any other
            foreach (State state in states.Values)
                Array.Clear(state.Next);
            states.Clear();
        }

        var made = new State(members, accepts, false, representatives.Length);
        states.Add(key, made);
        return made;
    }

    private bool Reach(List<int> from, bool isStart, bool isEnd, out bool acceptsRest)
    {
        bool accepts = false;
        acceptsRest = false;
        Debug.Assert(open.Count == 0 && reached.Count == 0, "2: a computation starts clean");
        foreach (int state in from)
            open.Push(state);
        while (open.TryPop(out int state))
        {
            if (marked[state])
                continue;
            marked[state] = true;
            reached.Add(state);
            NfaState step = nfa[state];
            switch (step.Kind)
            {
                case NfaStateKind.Split:
                    open.Push(step.Next);
                    open.Push(step.Other);
                    break;
                case NfaStateKind.AtStart when isStart:
                case NfaStateKind.AtEnd when isEnd:
                    open.Push(step.Next);
                    break;
                case NfaStateKind.Match:
                    accepts = true;
                    break;
                case NfaStateKind.MatchRest:
                    acceptsRest = true;
                    break;
            }
        }

        work += reached.Count;
        foreach (int state in reached)
            marked[state] = false;
        Debug.Assert(reached.Count <= nfa.Count, "a pattern state is reached once");
        return accepts;
    }

    private int IntervalOf(int character)
    {
        int place = Array.BinarySearch(intervalStarts, character);
        return place >= 0 ? place : ~place - 1;
    }

    /// <summary>Partitions characters into classes that no set of the pattern distinguishes.</summary>
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
        /// <summary>The pattern states it represents.</summary>
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
        private readonly int[] members = members;
        private readonly bool accepts = accepts;

        public bool Equals(StateKey other) => accepts == other.accepts && members.AsSpan().SequenceEqual(other.members);

        public override bool Equals(object? obj) => obj is StateKey other && Equals(other);

        public override int GetHashCode()
        {
            var hash = default(HashCode);
            hash.AddBytes(MemoryMarshal.AsBytes(members.AsSpan()));
            hash.Add(accepts);
            return hash.ToHashCode();
        }
    }
}
