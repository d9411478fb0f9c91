namespace Treepie.Indexing.Postings;

/// <summary>An entry that contains a term, and the number of its occurrences there.</summary>
internal readonly record struct Posting(long EntryId, int Frequency)
{
    public long Window => EntryId >> PostingWindow.SizeBits;

    public ushort Offset => (ushort)(EntryId & (PostingWindow.Size - 1));
}
