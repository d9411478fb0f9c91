using System.Text;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Tests.Postings;

/// <summary>A dictionary in trees of its own, written by a <see cref="PostingWriter"/> and read without it.</summary>
internal sealed class StoredDictionary(ReadTransaction read, bool keepsPositions)
{
    private readonly TermTree _terms = new(read.FindTree("terms")!); // written before it is read

    public static PostingWriter Open(
        WriteTransaction transaction, bool keepsPositions, bool isNumbered, Func<long> newListId, PostingMemory memory) => new(
        "test",
        transaction.GetOrCreateTree("terms"),
        transaction.GetOrCreateTree("postings"),
        keepsPositions ? transaction.GetOrCreateTree("positions") : null,
        keepsPositions ? transaction.GetOrCreateTree("impacts") : null,
        keepsPositions ? new Weights() : null,
        isNumbered ? transaction.GetOrCreateTree("words") : null,
        newListId,
        memory);

    /// <summary>The number of records of each tree.</summary>
    public static IEnumerable<string> Sizes(ReadTransaction read) =>
        ((string[])["impacts", "positions", "postings", "terms", "words"]).Select(
            name => $"{name} {read.FindTree(name)?.Count ?? 0}");

    public PostingKind KindOf(byte[] term) =>
        _terms.TryGet(term, out ReadOnlySpan<byte> value) ? new TermPayload(value).Kind : default;

    /// <summary>Compares the list of a term with the entries that it should have.</summary>
    public void Check(byte[] term, List<(long Id, int[] Places)> expected, bool areImpactsExact, string what)
    {
        bool isThere = _terms.TryGet(term, out ReadOnlySpan<byte> value);
        Assert.True(isThere == expected.Count > 0, what);
        if (!isThere)
            return;
        var payload = new TermPayload(value);
        Assert.True(expected.Count == payload.EntryCount, what);
        int next = payload.Kind == PostingKind.Flat
            ? CheckFlat(payload.Flat, expected, what)
            : CheckLong(payload.ListId, expected, areImpactsExact, what);
        Assert.True(expected.Count == next, what);
    }

    /// <summary>Each word is found by its number, and there are no other words.</summary>
    public void CheckWords(IEnumerable<string> expected, string what)
    {
        var found = new List<string>();
        using Cursor cursor = read.FindTree("words")!.OpenCursor(); // the writer has created it
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
        {
            Assert.True(_terms.TryGet(cursor.Value, out ReadOnlySpan<byte> value), what);
            long word = new TermPayload(value).Word;
            Assert.True(cursor.Key.SequenceEqual(BitConverter.GetBytes(word).Reverse().ToArray()), what);
            found.Add(Encoding.ASCII.GetString(cursor.Value));
        }

        Assert.Equal(expected.Order(StringComparer.Ordinal), found.Order(StringComparer.Ordinal));
    }

    private int CheckFlat(FlatPostings list, List<(long Id, int[] Places)> expected, string what)
    {
        int next = 0;
        while (list.MoveNext(out Posting posting))
        {
            Assert.True(next < expected.Count, what);
            ReadOnlySpan<byte> places = keepsPositions ? list.TakePositions(posting) : default;
            CheckPosting(expected[next++], posting.EntryId, posting.Frequency, ref places, what);
            Assert.True(places.IsEmpty, what);
        }

        return next;
    }

    private int CheckLong(long listId, List<(long Id, int[] Places)> expected, bool areImpactsExact, string what)
    {
        var positions = new PositionStore();
        if (keepsPositions)
            positions.Begin("test", read.FindTree("positions")!); // a long list with positions has written some
        ushort[] offsets = new ushort[PostingWindow.Size];
        int[] frequencies = new int[PostingWindow.Size];
        byte[] key = new byte[PostingKey.Bytes];
        PostingKey.Write(key, listId, 0);
        int next = 0;
        using Cursor cursor = read.FindTree("postings")!.OpenCursor(); // a long list has written some
        for (bool more = cursor.Seek(key); more && PostingKey.IsOf(cursor.Key, listId); more = cursor.MoveNext())
        {
            var segment = new PostingSegment(cursor.Value);
            Assert.True(segment.FirstWindow == PostingKey.FirstWindow(cursor.Key), what);
            Assert.True(segment.Count == 1 || cursor.Value.Length <= PostingEdit.MaxSegmentBytes, what);
            if (keepsPositions)
                positions.Load(listId, segment);
            for (int i = 0; i < segment.Count; i++)
            {
                PostingWindow window = segment.PostingsAt(i);
                ReadOnlySpan<byte> places = keepsPositions ? positions.WindowAt(i) : default;
                window.CopyOffsets(offsets);
                window.CopyFrequencies(frequencies);
                for (int rank = 0; rank < window.Count; rank++)
                {
                    Assert.True(next < expected.Count, what);
                    long id = (segment.WindowAt(i) << PostingWindow.SizeBits) + offsets[rank];
                    CheckPosting(expected[next++], id, frequencies[rank], ref places, what);
                }

                Assert.True(places.IsEmpty, what);
                int most = keepsPositions ? frequencies.AsSpan(0, window.Count).ToArray().Max() : 0;
                Assert.True(areImpactsExact ? window.LargestImpact == most : window.LargestImpact >= most, what);
            }
        }

        return next;
    }

    private void CheckPosting(
        (long Id, int[] Places) expected, long id, int frequency, ref ReadOnlySpan<byte> places, string what)
    {
        Assert.True(id == expected.Id && frequency == expected.Places.Length, what);
        int place = 0;
        foreach (int one in keepsPositions ? expected.Places : [])
            Assert.True((place += Varint.Read(ref places)) == one, what);
    }

    /// <summary>Who has a word more often weighs more.</summary>
    private sealed class Weights : IImpacts
    {
        public byte Of(long entryId, int frequency) => (byte)frequency;

        public int LengthOf(long entryId) => 100;

        public double PartOf(int frequency, int length) => frequency;
    }
}
