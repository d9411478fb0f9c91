using System.Diagnostics;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Builds a <see cref="PostingRun"/>. Reusable for one term after another. Invariants: 1. Ids ascend. 2. Each posting has an
/// end.
/// </summary>
internal sealed class PostingBuffer(bool keepsPositions)
{
    private Posting[] _postings = new Posting[64];
    private int[] _ends = new int[64];
    private byte[] _positions = new byte[256];
    private int _positionBytes;

    public int Count { get; private set; }

    public PostingRun Run =>
        new(_postings.AsSpan(0, Count), _positions.AsSpan(0, _positionBytes), keepsPositions ? _ends.AsSpan(0, Count) : default);

    public void Clear()
    {
        Count = 0;
        _positionBytes = 0;
    }

    /// <summary>Appends a posting with its encoded positions.</summary>
    public void Add(Posting posting, ReadOnlySpan<byte> encodedPositions)
    {
        encodedPositions.CopyTo(Room(encodedPositions.Length));
        _positionBytes += encodedPositions.Length;
        End(posting);
    }

    /// <summary>Appends a posting with its ascending positions; empty if lists have no positions.</summary>
    public void Add(Posting posting, ReadOnlySpan<int> ascending)
    {
        Debug.Assert(!keepsPositions || posting.Frequency == ascending.Length, "a posting has a position for each occurrence");
        if (keepsPositions)
        {
            Span<byte> room = Room(Varint.MaxBytes * ascending.Length);
            int written = 0;
            int last = 0;
            foreach (int position in ascending)
            {
                written += Varint.Write(room[written..], position - last);
                last = position;
            }

            _positionBytes += written;
        }

        End(posting);
    }

    /// <summary>Appends the occurrences of a term.</summary>
    /// <param name="occurrences">The occurrences of all terms.</param>
    /// <param name="term">The term, by its place in sorted order.</param>
    /// <param name="idOf">Entry ids by owner; an owner without an id is skipped.</param>
    public void Add(TermOccurrences occurrences, int term, EntryIds idOf)
    {
        int first = occurrences.Starts[term], count = occurrences.Starts[term + 1] - first;
        ReadOnlySpan<int> owners = occurrences.Owners.Slice(first, count),
            frequencies = occurrences.Frequencies.Slice(first, count);
        ReadOnlySpan<int> places = keepsPositions ? occurrences.PositionsFrom(first, count) : default;
        Reserve(count);
        Span<byte> room = Room(Varint.MaxBytes * places.Length);
        int written = 0, next = 0;
        for (int i = 0; i < owners.Length; i++)
        {
            int frequency = frequencies[i], end = keepsPositions ? next + frequency : 0;
            Debug.Assert(frequency > 0, "an entry has its term at least once");
            long id = idOf[owners[i]];
            if (id < 0)
            {
                next = end;
                continue;
            }

            for (int last = 0; next < end; next++)
            {
                int distance = places[next] - last;
                if (distance < 0x80)
                    room[written++] = (byte)distance;
                else
                    written += Varint.Write(room[written..], distance);
                last = places[next];
            }

            Debug.Assert(Count == 0 || _postings[Count - 1].EntryId < id, "1: ids ascend");
            _postings[Count] = new Posting(id, frequency);
            _ends[Count++] = _positionBytes + written;
        }

        Debug.Assert(next == places.Length, "each position belongs to an entry");
        _positionBytes += written;
    }

    private void Reserve(int more)
    {
        TermTable.GrowTo(ref _postings, Count + more);
        TermTable.GrowTo(ref _ends, Count + more);
    }

    private void End(Posting posting)
    {
        Debug.Assert(Count == 0 || _postings[Count - 1].EntryId < posting.EntryId, "1: ids ascend");
        Debug.Assert(Count == 0 || !keepsPositions || _ends[Count - 1] <= _positionBytes, "2: ends ascend");
        Reserve(1);
        _postings[Count] = posting;
        _ends[Count++] = _positionBytes;
    }

    private Span<byte> Room(int lengthBytes)
    {
        if (_positions.Length - _positionBytes < lengthBytes)
            Array.Resize(ref _positions, Math.Max(_positionBytes + lengthBytes, _positions.Length * 2));
        return _positions.AsSpan(_positionBytes);
    }
}
