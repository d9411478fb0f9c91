using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Maps;
using Treepie.Storage.Simulation;
using Treepie.Storage.Snapshots;
using Treepie.Storage.Transactions;
using LongMap = Treepie.Storage.Maps.TransactionMap<
    long, byte[], Treepie.Storage.Maps.PrimitiveSerializer<long>, Treepie.Storage.Maps.BytesSerializer>;

namespace Treepie.Storage.Tests.Maps;

/// <summary>
/// Buckets whose last page refers to their first, with checksums that are right: every walk along them ends with an error that
/// names a page of the bucket, and a command that meets one is undone.
/// </summary>
public sealed class BucketCycleTests
{
    private const int Keys = 600;
    private const int ValueBytes = 1000;
    private const int RecordsPerPage = 7;

    private static readonly StorageOptions _options = new()
    {
        MaxDataFileBytes = 64 << 20,
        FirstReserveBytes = 64 << 20,
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 16 << 20,
    };

    private readonly SimulatedDisk _disk = new(new Random(1));
    private readonly MapHeader _header;
    private long _root;
    private long _count = Keys;
    private HashSet<long> _pages = [];

    public BucketCycleTests()
    {
        using StorageEnvironment environment = Open(_disk);
        environment.Write(transaction => transaction.GetOrCreateTree("before").Put("k"u8, new byte[4 << 20]));
        environment.Write(transaction =>
        {
            LongMap map = Map(transaction);
            for (long key = 0; key < Keys; key++)
                map[key] = Value(key);
            return true;
        });
        using ReadTransaction read = environment.BeginRead();
        _root = Find(read).Record.Root.Number;
        _header = MapLayout.Read(environment.State.Store.Read(_root));
        Assert.True(_header.Buckets > 20);
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void Looking_for_a_missing_key_ends()
    {
        using StorageEnvironment environment = OpenForged(static _ => true);
        using ReadTransaction read = environment.BeginRead();
        Refuses(() => Find(read).ContainsKey(Keys));
    }

    [Fact]
    public void Enumerating_ends()
    {
        using StorageEnvironment environment = OpenForged(static _ => true);
        using ReadTransaction read = environment.BeginRead();
        Refuses(() => Find(read).ToArray());
    }

    [Fact]
    public void Setting_the_value_of_a_new_key_ends()
    {
        using StorageEnvironment environment = OpenForged(static _ => true);
        RefusesWrite(environment, map => map[Keys] = Value(Keys));
    }

    [Fact]
    public void Clearing_ends()
    {
        using StorageEnvironment environment = OpenForged(bucket => bucket == _header.Buckets / 2);
        RefusesWrite(environment, static map => map.Clear());
    }

    [Fact]
    public void Dropping_ends()
    {
        using StorageEnvironment environment = OpenForged(bucket => bucket == _header.Buckets / 2);
        Refuses(() => environment.Write(
            static transaction => transaction.DropMap<long, byte[], PrimitiveSerializer<long>, BytesSerializer>("m")));
        AssertUsable(environment);
    }

    [Fact]
    public void Splitting_ends()
    {
        long divided = MapLayout.Buddy(_header.Buckets);
        using StorageEnvironment environment = OpenForged(bucket => bucket == divided);
        RefusesWrite(environment, map =>
        {
            for (long key = Keys; key < 10 * Keys; key++)
                if (BucketOf(key) != divided)
                    map[key] = Value(key);
        });
    }

    [Fact]
    public void Merging_from_the_last_bucket_ends()
    {
        long last = LastBucketInUse();
        using StorageEnvironment environment = OpenForged(bucket => bucket == last);
        RefusesWrite(environment, map =>
        {
            for (long key = 0; key < Keys; key++)
                if (BucketOf(key) != last)
                    Assert.True(map.Remove(key));
        });
    }

    [Fact]
    public void Merging_into_another_bucket_ends()
    {
        long last = LastBucketInUse(), buddy = MapLayout.Buddy(last);
        Fill(last);
        Fill(buddy); // so that the records of the last bucket do not fit into its first page
        using StorageEnvironment environment = OpenForged(bucket => bucket == buddy);
        RefusesWrite(environment, map =>
        {
            for (long key = 0; key < Keys; key++)
                if (BucketOf(key) != last && BucketOf(key) != buddy)
                    Assert.True(map.Remove(key));
        });
    }

    [Fact]
    public void Moving_pages_ends()
    {
        using StorageEnvironment environment = OpenForged(bucket => bucket == _header.Buckets / 2);
        environment.Write(static transaction => transaction.DropTree("before"));
        environment.Checkpoint(Token);
        Refuses(() => environment.Shrink(cancellationToken: Token));
        AssertUsable(environment);
    }

    [Fact]
    public void Walking_over_all_pages_ends()
    {
        using StorageEnvironment environment = OpenForged(bucket => bucket == _header.Buckets / 2);
        using ReadTransaction read = environment.BeginRead();
        Refuses(() => new RootWalk(environment.State.Store, static _ => true, Token).Tree(Find(read).Record));
    }

    [Fact]
    public void Checking_ends_and_reports_it()
    {
        using StorageEnvironment environment = OpenForged(static bucket => bucket == 0);
        Assert.Contains(environment.Check(Token).Problems, problem => problem.Page is { } page && _pages.Contains(page));
    }

    [Fact]
    public void Salvaging_ends_and_keeps_all_records()
    {
        OpenForged(static bucket => bucket == 0).Dispose();
        var target = new SimulatedDisk(new Random(2));
        SalvageReport report = Salvage.Run(World(_disk), World(target), null, null, Token);
        SalvagedTree map = Assert.Single(report.Trees, tree => tree.Name == "m");
        Assert.Equal(1, map.DamagedPages);
        Assert.Equal(Keys, map.Keys);
    }

    private static LongMap Map(WriteTransaction transaction) =>
        transaction.GetOrCreateMap<long, byte[], PrimitiveSerializer<long>, BytesSerializer>("m");

    private static byte[] Value(long key)
    {
        var value = new byte[ValueBytes];
        BitConverter.TryWriteBytes(value, key);
        return value;
    }

    private static LongMap Find(ReadTransaction read) =>
        read.FindMap<long, byte[], PrimitiveSerializer<long>, BytesSerializer>("m")!; // it was made by the constructor

    private static World World(SimulatedDisk disk) =>
        new(disk, TimeProvider.System, new Random(1), IsBackgroundAllowed: false);

    private static StorageEnvironment Open(SimulatedDisk disk) => StorageEnvironment.Open(World(disk), _options);

    private void AssertUsable(StorageEnvironment environment)
    {
        environment.Write(static transaction => transaction.GetOrCreateTree("other").Put("k"u8, "v"u8));
        using ReadTransaction read = environment.BeginRead();
        Assert.Equal(_count, Find(read).Count);
        Assert.True(Find(read).ContainsKey(0));
    }

    private long BucketOf(long key) =>
        MapLayout.BucketOf(MapHash.Compute(BitConverter.GetBytes(key), _header.Seed), _header.Buckets);

    private long LastBucketInUse() => Enumerable.Range(0, Keys).Max(key => BucketOf(key));

    /// <summary>Adds records to a bucket until its first page is full. The map does not grow by that.</summary>
    private void Fill(long bucket)
    {
        using StorageEnvironment environment = Open(_disk);
        environment.Write(transaction =>
        {
            LongMap map = Map(transaction);
            int records = Enumerable.Range(0, Keys).Count(key => BucketOf(key) == bucket);
            for (long key = Keys; records < RecordsPerPage; key++)
            {
                if (BucketOf(key) != bucket)
                    continue;

                map[key] = Value(key);
                records++;
                _count++;
            }

            Assert.Equal(_header.Buckets, MapLayout.Read(transaction.Batch.Pages.View(map.Record.Root.Number)).Buckets);
            return true;
        });
        using ReadTransaction read = environment.BeginRead();
        _root = Find(read).Record.Root.Number;
    }

    private void RefusesWrite(StorageEnvironment environment, Action<LongMap> change)
    {
        Refuses(() => environment.Write(transaction =>
        {
            change(Map(transaction));
            return true;
        }));
        AssertUsable(environment);
    }

    private void Refuses(Action action)
    {
        CorruptionException error = Assert.Throws<CorruptionException>(action);
        Assert.Contains("the chain of its bucket leads back to it", error.Message, StringComparison.Ordinal);
        Assert.Contains(_pages, page => error.Message.StartsWith($"Page {page} of '", StringComparison.Ordinal));
    }

    /// <summary>Lets the last page of each of some buckets refer to the first.</summary>
    private StorageEnvironment OpenForged(Func<long, bool> isForged)
    {
        byte[] file = _disk.Bytes(FormatLimits.DataFileName);
        _pages = [];
        for (long bucket = 0; bucket < _header.Buckets; bucket++)
        {
            PageReference first = MapLayout.Entry(PageOf(file, _root), MapLayout.IndexOf(bucket, 0));
            if (!isForged(bucket) || first.IsNone)
                continue;

            PageReference last = first;
            for (PageReference next = first; !next.IsNone; next = Next(file, next))
            {
                last = next;
                _pages.Add(next.Number);
            }

            Span<byte> page = PageOf(file, last.Number);
            first.WritePacked(page[BucketPage.NextOffset..]);
            _ = new Page(page) { Checksum = Page.ComputeChecksum(page) };
        }

        Assert.NotEmpty(_pages);
        _disk.Replace(FormatLimits.DataFileName, file);
        return Open(_disk);
    }

    private static PageReference Next(byte[] file, PageReference reference) =>
        PageReference.ReadPacked(PageOf(file, reference.Number)[BucketPage.NextOffset..]);

    private static Span<byte> PageOf(byte[] file, long number) =>
        file.AsSpan((int)(number * PageLayout.SizeBytes), PageLayout.SizeBytes);
}
