using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// The occurrences of a <see cref="TermTable"/> grouped by term: those of the i-th term in byte order are at <c>Starts[i]</c> up
/// to <c>Starts[i + 1]</c>, owners ascending, so that enumerating terms in order reads memory sequentially. Reused from batch to
/// batch.
/// </summary>
internal sealed class TermOccurrences
{
    private int[] starts = [];
    private int[] owners = [];
    private int[] frequencies = [];
    private int[] positionStarts = [];
    private int[] positions = [];
    private int[] placeOf = [];
    private int[] next = [];
    private int termCount;
    private int occurrenceCount;
    private int positionCount;

    /// <summary>Whether positions are kept.</summary>
    public bool HasPositions => positionCount > 0;

    /// <summary>First occurrence of each term, and the end.</summary>
    public Span<int> Starts => starts.AsSpan(0, termCount + 1);

    /// <summary>Owner of each occurrence.</summary>
    public Span<int> Owners => owners.AsSpan(0, occurrenceCount);

    /// <summary>Frequency of each occurrence.</summary>
    public Span<int> Frequencies => frequencies.AsSpan(0, occurrenceCount);

    /// <summary>First position of each occurrence, and the end; if positions are kept.</summary>
    public Span<int> PositionStarts => positionStarts.AsSpan(0, occurrenceCount + 1);

    /// <summary>All positions, ascending within an occurrence.</summary>
    public Span<int> Positions => positions.AsSpan(0, positionCount);

    /// <summary>For the producer: place of each occurrence by its order of arrival; if positions are kept.</summary>
    public Span<int> PlaceOf => placeOf.AsSpan(0, positionCount > 0 ? occurrenceCount : 0);

    /// <summary>For the producer: a number for each term or occurrence.</summary>
    public Span<int> Next => next;

    /// <summary>Positions of consecutive occurrences; each has as many as its frequency.</summary>
    public ReadOnlySpan<int> PositionsFrom(int first, int count)
    {
        Debug.Assert(first >= 0 && first + count <= occurrenceCount, "the occurrences are of this batch");
        return positions.AsSpan(positionStarts[first]..positionStarts[first + count]);
    }

    /// <summary>Sizes the arrays; their content is undefined.</summary>
    public void Begin(int terms, int occurrences, int places)
    {
        (termCount, occurrenceCount, positionCount) = (terms, occurrences, places);
        Room(ref starts, terms + 1);
        Room(ref owners, occurrences);
        Room(ref frequencies, occurrences);
        Room(ref next, places > 0 ? Math.Max(terms, occurrences) : terms);
        if (places == 0)
            return;
        Room(ref positionStarts, occurrences + 1);
        Room(ref positions, places);
        Room(ref placeOf, occurrences);
    }

    /// <summary>Releases arrays larger than <paramref name="keepBytes"/>.</summary>
    public void Trim(int keepBytes)
    {
        int most = keepBytes / sizeof(int);
        Drop(ref starts, most);
        Drop(ref owners, most);
        Drop(ref frequencies, most);
        Drop(ref positionStarts, most);
        Drop(ref positions, most);
        Drop(ref placeOf, most);
        Drop(ref next, most);
        termCount = occurrenceCount = positionCount = 0;
    }

    private static void Drop(ref int[] array, int most)
    {
        if (array.Length > most)
            array = [];
    }

    /// <summary>Grows to a quarter more than needed, so that batches of similar size reuse the array.</summary>
    private static void Room(ref int[] array, int length)
    {
        if (array.Length < length)
            array = GC.AllocateUninitializedArray<int>((int)Math.Min(Array.MaxLength, length + (length / 4L)));
    }
}
