using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Postings;

public sealed class PostingWriterTests
{
    private static readonly byte[] _term = "w"u8.ToArray();

    [Fact]
    public void A_long_list_that_grows_commit_by_commit_has_all_that_was_added()
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 30; round++)
        {
            using var store = new TemporaryStore();
            var memory = new PostingMemory();
            var all = new List<(long Id, int[] Places)>();
            bool keepsPositions = random.Next(4) > 0;

            // How far entries are from one another, how often each has the word: segments of many windows and of one, of both
            // forms, and blocks of positions that grow too long.
            int mostStep = new[] { 3, 60, 2_000, 40_000, 3_000_000 }[random.Next(5)],
                mostPlaces = new[] { 1, 4, 14, 90 }[random.Next(4)];
            long id = 0;
            for (int commit = 0; commit < 25; commit++)
            {
                var added = new PostingBuffer(keepsPositions);
                for (int count = commit == 0 ? 300 : random.Next(1, random.Next(2) == 0 ? 4 : 120); count > 0; count--)
                {
                    id += random.Next(1, mostStep);
                    int[] places = [
                        .. Enumerable.Range(0, keepsPositions ? random.Next(1, mostPlaces + 1) : 1)
                            .Select(place => place * random.Next(1, 200))
                            .Order()];
                    all.Add((id, places));
                    added.Add(new Posting(id, places.Length), places);
                }

                store.Environment.Write(
                    transaction =>
                    {
                        using PostingWriter writer = Open(transaction, keepsPositions, memory);
                        writer.Apply(_term, added.Run, []);
                        writer.Finish();
                        return true;
                    },
                    TestContext.Current.CancellationToken);
                if (commit % 4 == 0 || commit == 24)
                    Check(store.Environment, all, keepsPositions, $"seed {seed}, round {round}, commit {commit}");
            }

            Assert.Empty(store.Environment.Check(TestContext.Current.CancellationToken).Problems);
        }
    }

    private static void Check(
        StorageEnvironment environment, List<(long Id, int[] Places)> expected, bool keepsPositions, string when)
    {
        using ReadTransaction read = environment.BeginRead();
        // written by the first commit, as the others
        Assert.True(new TermTree(read.FindTree("terms")!).TryGet(_term, out ReadOnlySpan<byte> value));
        var payload = new TermPayload(value);
        Assert.Equal((PostingKind.Long, (long)expected.Count), (payload.Kind, payload.EntryCount));
        var positions = new PositionStore();
        if (keepsPositions)
            positions.Begin("test", read.FindTree("positions")!);
        ushort[] offsets = new ushort[PostingWindow.Size];
        int[] frequencies = new int[PostingWindow.Size];
        int next = 0, segments = 0;
        using Cursor cursor = read.FindTree("postings")!.OpenCursor();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext(), segments++)
        {
            var segment = new PostingSegment(cursor.Value);
            Assert.True(segment.Count == 1 || cursor.Value.Length <= PostingEdit.MaxSegmentBytes, when);
            if (keepsPositions)
                positions.Load(payload.ListId, segment);
            for (int i = 0; i < segment.Count; i++)
            {
                PostingWindow window = segment.PostingsAt(i);
                ReadOnlySpan<byte> places = keepsPositions ? positions.WindowAt(i) : default;
                window.CopyOffsets(offsets);
                window.CopyFrequencies(frequencies);
                for (int rank = 0; rank < window.Count; rank++, next++)
                {
                    Assert.True(next < expected.Count, when);
                    (long id, int[] wanted) = expected[next];
                    Assert.True(
                        id == (segment.WindowAt(i) << PostingWindow.SizeBits) + offsets[rank]
                            && wanted.Length == frequencies[rank],
                        when);
                    int place = 0;
                    foreach (int one in keepsPositions ? wanted : [])
                        Assert.True((place += Varint.Read(ref places)) == one, when);
                }

                Assert.True(places.IsEmpty, when);
                Assert.Equal(keepsPositions ? Weights.Most(frequencies.AsSpan(0, window.Count)) : 0, window.LargestImpact);
            }
        }

        Assert.Equal(expected.Count, next);
    }

    private static PostingWriter Open(WriteTransaction transaction, bool keepsPositions, PostingMemory memory) => new(
        "test",
        transaction.GetOrCreateTree("terms"),
        transaction.GetOrCreateTree("postings"),
        keepsPositions ? transaction.GetOrCreateTree("positions") : null,
        keepsPositions ? transaction.GetOrCreateTree("impacts") : null,
        keepsPositions ? new Weights() : null,
        null,
        () => 1,
        memory);

    /// <summary>Who has a word more often weighs more.</summary>
    private sealed class Weights : IImpacts
    {
        public static byte Most(ReadOnlySpan<int> frequencies)
        {
            int most = 0;
            foreach (int frequency in frequencies)
                most = Math.Max(most, frequency);
            return (byte)most;
        }

        public byte Of(long entryId, int frequency) => (byte)frequency;

        public int LengthOf(long entryId) => 100;

        public double PartOf(int frequency, int length) => frequency;
    }
}
