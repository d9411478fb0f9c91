using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Postings;

/// <summary>
/// Scratch of who writes dictionaries, one after the other and commit after commit: made once, it is no garbage of each. Of one
/// <see cref="PostingWriter"/> at a time.
/// </summary>
internal sealed class PostingMemory
{
    /// <summary>Largest piece of memory, and most words, that are kept.</summary>
    private const int KeepBytes = 1 << 20, KeepWords = 1 << 16;

    /// <summary>Changes terms.</summary>
    public TermTreeWriter Terms { get; } = new(static value => new TermPayload(value).EntryCount);

    /// <summary>Changes segments.</summary>
    public PostingEdit Edit { get; } = new();

    /// <summary>Changes heads of long lists.</summary>
    public ListHeadEdit Heads { get; } = new();

    /// <summary>Changes positions.</summary>
    public PositionStore Positions { get; } = new();

    /// <summary>Short lists put together, without positions and with them.</summary>
    public PostingBuffer Plain { get; } = new(keepsPositions: false);

    /// <summary>As <see cref="Plain"/>, with positions.</summary>
    public PostingBuffer Placed { get; } = new(keepsPositions: true);

    /// <summary>Room for what stands beside a term.</summary>
    public byte[] Payload { get; } = new byte[Math.Max(
        TermPayload.MaxHeadBytes + FlatPostings.MaxBytes, TermPayload.MaxLongBytes)];

    /// <summary>Words that are new: number, and where in <see cref="Names"/> they are.</summary>
    public List<(long Word, int Start, int Length)> Named { get; } = [];

    /// <summary>Bytes of new words.</summary>
    public ByteArena Names { get; } = new();

    /// <summary>Forgets what a dictionary left.</summary>
    public void Clear()
    {
        Named.Clear();
        if (Named.Capacity > KeepWords)
            Named.Capacity = 0;
        Names.Clear(KeepBytes);
    }
}
