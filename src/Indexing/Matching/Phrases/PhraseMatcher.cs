using System.Diagnostics;

namespace Treepie.Indexing.Matching.Phrases;

/// <summary>
/// Decides whether, and how closely, the words of a phrase occur together in one entry. Word i of the phrase has query
/// position q[i]. An entry matches at a start m if every word i has a position p with m + q[i] ≤ p ≤ m + q[i] + slop, no
/// position serves two words of the same term, and, if order matters, positions ascend. A start counts 1 / (1 + d), where d
/// is the smallest slop that would suffice; the phrase's frequency is the sum over all starts. Without slop that is the
/// number of occurrences.
/// </summary>
/// <remarks>
/// For each start the words take, in order of q, the smallest position left to them. That is exact: the ranges of the words
/// begin and end in the order of q, so taking a smaller position never deprives a later word of one that a greater position
/// would leave.
/// </remarks>
internal sealed class PhraseMatcher
{
    /// <summary>
    /// Words processed between two checks for cancellation: a single entry may take a minute if hundreds of words occur a
    /// hundred thousand times each.
    /// </summary>
    private const int WordsBetweenChecks = 1 << 16;

    private readonly QueryContext _context;
    private readonly int[] _terms;
    private readonly int[] _offsets;
    private readonly int _slop;
    private readonly bool _ordered;
    private readonly int[] _lastOfTerm;
    private readonly int[] _cursors;
    private int _sinceCheck;

    /// <param name="context">The query.</param>
    /// <param name="terms">For each word of the phrase, the index of its distinct term.</param>
    /// <param name="offsets">For each word, its position in the query, ascending.</param>
    /// <param name="slop">How far words may be from their positions.</param>
    /// <param name="ordered">Whether words have to keep their order.</param>
    public PhraseMatcher(QueryContext context, int[] terms, int[] offsets, int slop, bool ordered)
    {
        _context = context;
        _terms = terms;
        _offsets = offsets;
        Debug.Assert(terms.Length > 0 && terms.Length == offsets.Length, "each word has an offset");
        Debug.Assert(slop >= 0, "a distance is not negative");
        _slop = slop;
        _ordered = ordered;
        _lastOfTerm = new int[terms.Max() + 1];
        _cursors = new int[terms.Length];
    }

    /// <summary>How far words may be from their positions.</summary>
    public int Slop => _slop;

    /// <summary>Description of the slop for the plan; null without slop.</summary>
    public string? Distance =>
        _slop == 0
            ? null
            : string.Create(
                System.Globalization.CultureInfo.InvariantCulture, $"{(_ordered ? "in order, " : "")}up to {_slop:N0} apart");

    /// <summary>
    /// Returns the frequency of the phrase in an entry, or 0 if it does not match. Positions are given for each distinct
    /// term, ascending.
    /// </summary>
    public float Match(ReadOnlySpan<PositionList> positions)
    {
        Debug.Assert(positions.Length >= _lastOfTerm.Length, "each term has positions");
        if (_slop == 0)
            return _terms.Length == 2 && _terms[0] != _terms[1]
                ? CountPairs(positions[_terms[0]].Span, positions[_terms[1]].Span)
                : CountExact(positions);

        Array.Clear(_cursors);
        float frequency = 0;
        for (int start = int.MinValue; TryGetNextStart(positions, ref start);)
        {
            int distance = DistanceAt(positions, start);
            if (distance >= 0)
                frequency += 1f / (1 + distance);
        }

        return frequency;
    }

    /// <summary>Counts an exact phrase of two different words by advancing through both lists.</summary>
    private int CountPairs(ReadOnlySpan<int> first, ReadOnlySpan<int> second)
    {
        Debug.Assert(_offsets.Length == 2 && _slop == 0, "a pair has two words at an exact distance");
        int apart = _offsets[1] - _offsets[0], found = 0, last = -1;
        for (int i = 0, j = 0; i < first.Length && j < second.Length;)
        {
            int wanted = first[i] + apart;
            if (second[j] < wanted)
            {
                j++;
                continue;
            }

            // Several tokens at one position count once, and no start is negative.
            if (second[j] == wanted && first[i] != last && first[i] >= _offsets[0])
                found++;
            last = first[i++];
        }

        return found;
    }

    /// <summary>Returns, for each distinct term, its positions in the query.</summary>
    public int[][] Places()
    {
        int[][] places = new int[_lastOfTerm.Length][];
        for (int word = 0; word < _terms.Length; word++)
        {
            ref int[] mine = ref places[_terms[word]];
            mine = mine is null ? [_offsets[word]] : [.. mine, _offsets[word]];
        }

        return places;
    }

    /// <summary>Iterates over the rarest word and looks up the others. All cursors only move forward.</summary>
    private int CountExact(ReadOnlySpan<PositionList> positions)
    {
        int lead = 0;
        for (int i = 1; i < _terms.Length; i++)
        {
            if (positions[_terms[i]].Count < positions[_terms[lead]].Count)
                lead = i;
        }

        Array.Clear(_cursors);
        int found = 0;
        int last = -1;
        foreach (int position in positions[_terms[lead]].Span)
        {
            int start = position - _offsets[lead];
            if (start == last || start < 0)
                continue; // several tokens at one position count once
            last = start;
            Visit();
            bool all = true;
            for (int i = 0; i < _terms.Length && all; i++)
            {
                ReadOnlySpan<int> mine = positions[_terms[i]].Span;
                ref int cursor = ref _cursors[i];
                while (cursor < mine.Length && mine[cursor] < start + _offsets[i])
                    cursor++;
                all = cursor < mine.Length && mine[cursor] == start + _offsets[i];
            }

            found += all ? 1 : 0;
        }

        return found;
    }

    /// <summary>
    /// Moves to the next start at which some word is exactly at its position, and advances the cursors to the positions from
    /// there on.
    /// </summary>
    private bool TryGetNextStart(ReadOnlySpan<PositionList> positions, ref int start)
    {
        int next = int.MaxValue;
        for (int i = 0; i < _terms.Length; i++)
        {
            ReadOnlySpan<int> mine = positions[_terms[i]].Span;
            ref int cursor = ref _cursors[i];
            while (cursor < mine.Length && mine[cursor] - _offsets[i] <= start)
                cursor++;
            if (cursor < mine.Length)
                next = Math.Min(next, mine[cursor] - _offsets[i]);
        }

        Visit();
        start = next;
        return next != int.MaxValue;
    }

    private void Visit()
    {
        if ((_sinceCheck += _terms.Length) < WordsBetweenChecks)
            return;
        _sinceCheck = 0;
        _context.Check();
    }

    /// <summary>
    /// Returns the smallest slop that suffices at a start, or -1 if the slop is too small. Starts must ascend.
    /// </summary>
    private int DistanceAt(ReadOnlySpan<PositionList> positions, int start)
    {
        Debug.Assert(_slop > 0, "only an inexact phrase has distances");
        int farthest = 0;
        int last = -1;
        Array.Fill(_lastOfTerm, -1);
        for (int i = 0; i < _terms.Length; i++)
        {
            ReadOnlySpan<int> mine = positions[_terms[i]].Span;

            // Words at one query position (synonyms) may share a position; otherwise positions must ascend if order matters.
            int least = _lastOfTerm[_terms[i]] + 1;
            if (_ordered && last >= 0)
                least = Math.Max(least, _offsets[i] > _offsets[i - 1] ? last + 1 : last);
            int place = _cursors[i];
            while (place < mine.Length && mine[place] < least)
                place++;
            if (place == mine.Length || mine[place] > start + _offsets[i] + _slop)
                return -1;

            last = _lastOfTerm[_terms[i]] = mine[place];
            farthest = Math.Max(farthest, last - _offsets[i] - start);
        }

        return farthest;
    }
}
