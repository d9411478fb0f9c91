using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// The occurrences of a <see cref="TermTable"/> grouped by term. Those of the i-th term in byte order are at
/// <c>Starts[i]</c> up to <c>Starts[i + 1]</c>, with ascending owners, so that enumerating terms in order reads memory
/// sequentially. Reused from batch to batch.
/// </summary>
internal sealed class TermOccurrences
{
    private int[] _starts = [];
    private int[] _owners = [];
    private int[] _frequencies = [];
    private int[] _positionStarts = [];
    private int[] _positions = [];
    private int[] _placeOf = [];
    private int[] _next = [];
    private int _termCount;
    private int _occurrenceCount;
    private int _positionCount;

    /// <summary>Whether positions are kept.</summary>
    public bool HasPositions => _positionCount > 0;

    /// <summary>Index of the first occurrence of each term, and the end of the last.</summary>
    public Span<int> Starts => _starts.AsSpan(0, _termCount + 1);

    /// <summary>Owner of each occurrence.</summary>
    public Span<int> Owners => _owners.AsSpan(0, _occurrenceCount);

    /// <summary>Frequency of each occurrence.</summary>
    public Span<int> Frequencies => _frequencies.AsSpan(0, _occurrenceCount);

    /// <summary>Start of the positions of each occurrence, and the end of the last; only if positions are kept.</summary>
    public Span<int> PositionStarts => _positionStarts.AsSpan(0, _occurrenceCount + 1);

    /// <summary>All positions, ascending within an occurrence.</summary>
    public Span<int> Positions => _positions.AsSpan(0, _positionCount);

    /// <summary>For the producer: the place of each occurrence by its order of arrival; only if positions are kept.</summary>
    public Span<int> PlaceOf => _placeOf.AsSpan(0, _positionCount > 0 ? _occurrenceCount : 0);

    /// <summary>For the producer: scratch space with a number for each term or occurrence.</summary>
    public Span<int> Next => _next;

    /// <summary>Positions of consecutive occurrences; each has as many as its frequency.</summary>
    public ReadOnlySpan<int> PositionsFrom(int first, int count)
    {
        Debug.Assert(first >= 0 && first + count <= _occurrenceCount, "the occurrences are of this batch");
        return _positions.AsSpan(_positionStarts[first].._positionStarts[first + count]);
    }

    /// <summary>Sizes the arrays; their content is undefined.</summary>
    public void Begin(int terms, int occurrences, int places)
    {
        Debug.Assert(terms > 0 || occurrences == 0, "each occurrence is of a term");
        Debug.Assert(occurrences > 0 || places == 0, "each position is of an occurrence");
        (_termCount, _occurrenceCount, _positionCount) = (terms, occurrences, places);
        Room(ref _starts, terms + 1);
        Room(ref _owners, occurrences);
        Room(ref _frequencies, occurrences);
        Room(ref _next, places > 0 ? Math.Max(terms, occurrences) : terms);
        if (places == 0)
            return;
        Room(ref _positionStarts, occurrences + 1);
        Room(ref _positions, places);
        Room(ref _placeOf, occurrences);
    }

    /// <summary>Releases arrays larger than <paramref name="keepBytes"/>.</summary>
    public void Trim(int keepBytes)
    {
        int most = keepBytes / sizeof(int);
        Drop(ref _starts, most);
        Drop(ref _owners, most);
        Drop(ref _frequencies, most);
        Drop(ref _positionStarts, most);
        Drop(ref _positions, most);
        Drop(ref _placeOf, most);
        Drop(ref _next, most);
        _termCount = _occurrenceCount = _positionCount = 0;
    }

    private static void Drop(ref int[] array, int most)
    {
        if (array.Length > most)
            array = [];
    }

    /// <summary>Grows an array to a quarter more than needed, so that batches of similar size reuse it.</summary>
    private static void Room(ref int[] array, int length)
    {
        if (array.Length < length)
            array = GC.AllocateUninitializedArray<int>((int)Math.Min(Array.MaxLength, length + (length / 4L)));
    }
}
