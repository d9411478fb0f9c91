using System.Text;
using Treepie.Indexing.Postings;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Postings;

public sealed class PostingWriterTests
{
    private static readonly byte[] _term = "w"u8.ToArray();

    /// <summary>In their order; those with an m come to have many entries.</summary>
    private static readonly string[] _terms = ["few", "fewer", "many", "more", "most"];

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
                        using PostingWriter writer = StoredDictionary.Open(
                            transaction, keepsPositions, isNumbered: false, () => 1, memory);
                        writer.Apply(_term, added.Run, []);
                        writer.Finish();
                        return true;
                    },
                    TestContext.Current.CancellationToken);
                if (commit % 4 == 0 || commit == 24)
                {
                    using ReadTransaction read = store.Environment.BeginRead();
                    var dictionary = new StoredDictionary(read, keepsPositions);
                    Assert.Equal(PostingKind.Long, dictionary.KindOf(_term));
                    dictionary.Check(_term, all, areImpactsExact: true, $"seed {seed}, round {round}, commit {commit}");
                }
            }

            Assert.Empty(store.Environment.Check(TestContext.Current.CancellationToken).Problems);
        }
    }

    /// <summary>
    /// Terms of few and of many entries, which come near one another and farther apart than a segment can say; single ones, runs
    /// and all of them go again.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Lists_have_what_was_added_and_not_removed_however_far_apart(bool keepsPositions)
    {
        int seed = Seed.Next();
        var random = new Random(seed);
        for (int round = 0; round < 8; round++)
        {
            using StorageEnvironment environment = MemoryEnvironment.Open();
            var memory = new PostingMemory();
            var model = new SortedDictionary<string, List<(long Id, int[] Places)>>(StringComparer.Ordinal);
            long nextId = 0, nextList = 0, nextWord = 0;
            for (int commit = 0; commit < 25; commit++)
            {
                string what = $"seed {seed}, round {round}, commit {commit}";
                long first = nextId += Step(random);
                environment.Write(
                    transaction =>
                    {
                        using PostingWriter writer = StoredDictionary.Open(
                            transaction, keepsPositions, isNumbered: true, () => nextList++, memory);
                        foreach (string term in _terms)
                        {
                            List<(long Id, int[] Places)> list = model.TryGetValue(term, out var known) ? known : [];
                            long[] removed = Removed(list, random);
                            list.RemoveAll(one => removed.AsSpan().BinarySearch(one.Id) >= 0);
                            var added = new PostingBuffer(keepsPositions);
                            long id = first;
                            int most = term[0] == 'm' ? 600 : 6;
                            for (int count = random.Next(3) == 0 ? 0 : random.Next(1, most); count > 0; count--)
                            {
                                int[] places = [
                                    .. Enumerable.Range(0, keepsPositions ? random.Next(1, 5) : 1)
                                        .Select(place => (place * 300) + random.Next(300))];
                                list.Add((id, places));
                                added.Add(new Posting(id, places.Length), places);
                                nextId = Math.Max(nextId, id + 1);
                                id += random.Next(200) == 0 ? Step(random) : random.Next(1, 9);
                            }

                            long word = writer.Apply(Encoding.ASCII.GetBytes(term), added.Run, removed, nextWord++);
                            Assert.True(word >= 0 == list.Count > 0, what);
                            model[term] = list;
                        }

                        writer.Finish();
                        return true;
                    },
                    TestContext.Current.CancellationToken);
                using ReadTransaction read = environment.BeginRead();
                var dictionary = new StoredDictionary(read, keepsPositions);
                foreach ((string term, List<(long Id, int[] Places)> list) in model)
                    dictionary.Check(Encoding.ASCII.GetBytes(term), list, areImpactsExact: false, what);
                dictionary.CheckWords(model.Where(static one => one.Value.Count > 0).Select(static one => one.Key), what);
            }

            environment.Write(
                transaction =>
                {
                    using PostingWriter writer = StoredDictionary.Open(
                        transaction, keepsPositions, isNumbered: true, () => nextList++, memory);
                    foreach ((string term, List<(long Id, int[] Places)> list) in model)
                        if (list.Count > 0)
                            writer.Apply(Encoding.ASCII.GetBytes(term), default, [.. list.Select(static one => one.Id)]);
                    writer.Finish();
                    return true;
                },
                TestContext.Current.CancellationToken);
            using ReadTransaction last = environment.BeginRead();
            Assert.Equal(["impacts 0", "positions 0", "postings 0", "terms 0", "words 0"], StoredDictionary.Sizes(last));
        }
    }

    /// <summary>A removal of an entry that a list does not have means that the index is damaged.</summary>
    [Theory]
    [InlineData(3)]
    [InlineData(2_000)]
    public void An_entry_that_is_missing_when_it_is_removed_is_reported(int count)
    {
        using StorageEnvironment environment = MemoryEnvironment.Open();
        var memory = new PostingMemory();
        Apply(_term, count, []);
        foreach (long missing in (long[])[1, (2L * count) + 1, 1L << 40])
        {
            CorruptionException error = Assert.Throws<CorruptionException>(() => Apply(_term, 0, [0, missing]));
            Assert.Equal(
                "The index dictionary 'test' misses 1 entries of the term 77 that its entries name. Reset the index to build it "
                    + "again.",
                error.Message);
        }

        Assert.Throws<CorruptionException>(() => Apply("unknown"u8.ToArray(), 0, [0]));
        Apply(_term, 0, [0, 2]);

        // Before the first entry of a list, and in a list that has lost all of its segments.
        byte[] later = "x"u8.ToArray();
        Apply(later, count, [], firstId: 9L << PostingWindow.SizeBits);
        Assert.Throws<CorruptionException>(() => Apply(later, 0, [5]));
        environment.Write(
            static transaction => transaction.DropTree("postings"), TestContext.Current.CancellationToken);
        if (count > FlatPostings.MaxEntries)
        {
            Assert.Throws<CorruptionException>(() => Apply(later, 0, [9L << PostingWindow.SizeBits]));
            CorruptionException error = Assert.Throws<CorruptionException>(
                () => Apply(later, 1, [], firstId: 99L << PostingWindow.SizeBits));
            Assert.Equal(
                $"The index dictionary 'test' misses {count} entries of the term 78 that its entries name. Reset the index to "
                    + "build it again.",
                error.Message);
        }

        void Apply(byte[] term, int added, long[] removed, long firstId = 0) => environment.Write(
            transaction =>
            {
                using PostingWriter writer = StoredDictionary.Open(
                    transaction, true, isNumbered: false, () => term[0], memory);
                var additions = new PostingBuffer(keepsPositions: true);
                for (int i = 0; i < added; i++)
                    additions.Add(new Posting(firstId + (2L * i), 1), (ReadOnlySpan<int>)[i]);
                writer.Apply(term, additions.Run, removed);
                writer.Finish();
                return true;
            },
            TestContext.Current.CancellationToken);
    }

    private static long[] Removed(List<(long Id, int[] Places)> list, Random random)
    {
        int start = random.Next(list.Count + 1);
        return random.Next(6) switch
        {
            0 => [.. list.Select(static one => one.Id)],
            1 => [.. list.Skip(start).Take(random.Next(1_000)).Select(static one => one.Id)],
            2 => [.. list.Where(_ => random.Next(10) == 0).Select(static one => one.Id)],
            3 => [.. list.Skip(start).Take(1).Select(static one => one.Id)],
            _ => [],
        };
    }

    /// <summary>Within a window, to the next, and as far as a narrow and a wide segment reach, or a window farther.</summary>
    private static long Step(Random random)
    {
        long windows = random.Next(5) switch { 0 => 0, 1 => 1, 2 => byte.MaxValue, 3 => ushort.MaxValue, _ => uint.MaxValue };
        return ((windows + random.Next(3)) << PostingWindow.SizeBits) + random.Next(1, 60);
    }
}
