namespace Treepie.Indexing.Postings;

/// <summary>A <see cref="PostingRun"/> being put together. Scratch, reused from term to term.</summary>
internal sealed class PostingBuffer(bool keepsPositions)
{
    private Posting[] postings = new Posting[64];
    private int[] ends = new int[64];
    private byte[] positions = new byte[256];
    private int positionBytes;

    public int Count { get; private set; }

    public PostingRun Run => new(postings.AsSpan(0, Count), positions.AsSpan(0, positionBytes), keepsPositions ? ends.AsSpan(0, Count) : default);

    public void Clear()
    {
        Count = 0;
        positionBytes = 0;
    }

    /// <summary>Appends a posting with its encoded positions.</summary>
    public void Add(Posting posting, ReadOnlySpan<byte> encodedPositions)
    {
        encodedPositions.CopyTo(Room(encodedPositions.Length));
        positionBytes += encodedPositions.Length;
        End(posting);
    }

    /// <summary>Appends a posting with its positions, ascending; empty where none are kept.</summary>
    public void Add(Posting posting, ReadOnlySpan<int> ascending)
    {
        if (keepsPositions)
        {
            Span<byte> room = Room(Terms.Varint.MaxBytes * ascending.Length);
            int written = 0;
            int last = 0;
            foreach (int position in ascending)
            {
                written += Terms.Varint.Write(room[written..], position - last);
                last = position;
            }

            positionBytes += written;
        }

        End(posting);
    }

    private void End(Posting posting)
    {
        if (Count == postings.Length)
        {
            Array.Resize(ref postings, Count * 2);
            Array.Resize(ref ends, Count * 2);
        }

        postings[Count] = posting;
        ends[Count++] = positionBytes;
    }

    private Span<byte> Room(int lengthBytes)
    {
        if (positions.Length - positionBytes < lengthBytes)
            Array.Resize(ref positions, Math.Max(positionBytes + lengthBytes, positions.Length * 2));
        return positions.AsSpan(positionBytes);
    }
}
