using System.Buffers.Binary;
using Treepie.Storage.Files;
using Treepie.Storage.Paging;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Paging;

/// <summary>
/// An environment reserves few addresses at first and more as its file grows. Readers continue in the previous address range.
/// </summary>
public sealed class PageSpaceTests
{
    private const int Growths = 3; // 256 KiB, 2 MiB, 16 MiB, 128 MiB

    private static StorageOptions Options { get; } = SmallDisk.Options with
    {
        MaxDataFileBytes = 1L << 30,
        ScratchReserveBytes = 1L << 30
    };

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void A_store_grows_through_several_spaces_while_readers_hold_what_they_read(bool isEncrypted, bool mapsSeeWrites)
    {
        var random = new Random(Seed.Next());
        using EncryptionKey? key = isEncrypted ? EncryptionKey.Generate() : null;
        var disk = new SimulatedDisk(random) { MapsSeeWrites = mapsSeeWrites };
        StorageOptions options = Options with { EncryptionKey = key };
        var run = new Run(random);
        using (StorageEnvironment environment = Open(disk, random, options))
        {
            run.GrowHoldingAReader(environment, Growths);
            Assert.Equal(Growths, run.Spaces.Count);
            AssertAllThere(environment, run);
            if (isEncrypted)
                AssertNothingStaysDecrypted(environment, run);
        }

        using StorageEnvironment again = Open(disk, random, options);
        AssertAllThere(again, run);
    }

    [Fact]
    public void A_file_ends_at_its_largest_length_and_not_at_the_first_space()
    {
        var random = new Random(Seed.Next());
        var disk = new SimulatedDisk(random);
        using StorageEnvironment environment = Open(disk, random, Options with { MaxDataFileBytes = 3 << 20 });
        var run = new Run(random);
        run.GrowHoldingAReader(environment, 1);
        StorageException error = Assert.Throws<StorageException>(() => run.GrowHoldingAReader(environment, 2));
        Assert.Contains("MaxDataFileBytes", error.Message, StringComparison.Ordinal);
        Assert.True(environment.Check(TestContext.Current.CancellationToken).IsClean);
    }

    /// <summary>
    /// TREEPIE_ENVIRONMENTS sets another number. 10,000 need a limit of open files (ulimit -n) of slightly more than twice that.
    /// </summary>
    [Fact]
    public void More_environments_are_open_in_a_process_than_it_has_terabytes_of_addresses()
    {
        int count = int.Parse(
            Environment.GetEnvironmentVariable("TREEPIE_ENVIRONMENTS") ?? "600",
            System.Globalization.CultureInfo.InvariantCulture);
        using var directory = new TemporaryDirectory();
        string first = Path.Combine(directory.Path, "0");
        using (StorageEnvironment environment = StorageEnvironment.Open(
            first, new StorageOptions { Durability = Durability.Relaxed }))
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put("k"u8, "v"u8));

        var open = new List<StorageEnvironment>();
        try
        {
            for (int i = 1; i <= count; i++)
            {
                string path = Path.Combine(directory.Path, i.ToString(System.Globalization.CultureInfo.InvariantCulture));
                Directory.CreateDirectory(path);
                foreach (string file in Directory.GetFiles(first))
                    File.Copy(file, Path.Combine(path, Path.GetFileName(file)));
                open.Add(StorageEnvironment.Open(path, new StorageOptions { Durability = Durability.Relaxed }));
            }

            foreach (StorageEnvironment environment in open)
            {
                using ReadTransaction read = environment.BeginRead();
                Assert.True(read.FindTree("t")!.Contains("k"u8));
            }
        }
        finally
        {
            foreach (StorageEnvironment environment in open)
                environment.Dispose();
        }
    }

    private static StorageEnvironment Open(SimulatedDisk disk, Random random, StorageOptions options) =>
        StorageEnvironment.Open(new World(disk, TimeProvider.System, random, IsBackgroundAllowed: false), options);

    private static void AssertAllThere(StorageEnvironment environment, Run run)
    {
        using (ReadTransaction read = environment.BeginRead())
            run.Expected.AssertEqual(read);
        Assert.Empty(environment.Check(TestContext.Current.CancellationToken).Problems);
    }

    private static void AssertNothingStaysDecrypted(StorageEnvironment environment, Run run)
    {
        environment.Sweeper!.Sweep(); // not null, because the environment is encrypted
        Assert.Equal(0, environment.Sweeper.Sweep());
        foreach ((PageSpace space, long pages) in run.Spaces)
            for (long page = 0; page < pages; page++)
                Assert.False(
                    space.Span(page * 8192, 8192).ContainsAnyExcept((byte)0), $"Page {page} of an old space is still there.");
    }

    /// <summary>Random writes, and the expected content after them.</summary>
    private sealed class Run(Random random)
    {
        private const int Keys = 20_000;

        public Model Expected { get; } = new();

        /// <summary>The address spaces that the file has outgrown, and its number of pages then.</summary>
        public List<(PageSpace Space, long Pages)> Spaces { get; } = [];

        /// <summary>
        /// Reads values, writes until the file has outgrown this many address spaces, and verifies the values read before.
        /// </summary>
        public void GrowHoldingAReader(StorageEnvironment environment, int growths)
        {
            Write(environment);
            Model expected = Expected.Copy();
            using ReadTransaction read = environment.BeginRead();
            byte[] shortKey = expected.Tree("t").First(pair => pair.Value.Length < 1000).Key,
                longKey = expected.Tree("t").First(pair => pair.Value.Length > 3000).Key;
            Assert.True(read.FindTree("t")!.TryGet(shortKey, out ReadOnlySpan<byte> shortValue));
            Assert.True(read.FindTree("t")!.TryGet(longKey, out ReadOnlySpan<byte> longValue));

            PageSpace space = environment.State.Store.Space;
            long pages = 0;
            while (ReferenceEquals(space, environment.State.Store.Space))
            {
                pages = environment.State.Store.FilePages;
                Write(environment);
            }

            Spaces.Add((space, pages));
            if (growths > 1)
                GrowHoldingAReader(environment, growths - 1);
            Assert.True(shortValue.SequenceEqual(expected.Tree("t")[shortKey]));
            Assert.True(longValue.SequenceEqual(expected.Tree("t")[longKey]));
            expected.AssertEqual(read);
        }

        private void Write(StorageEnvironment environment)
        {
            var changes = new List<(byte[] Key, byte[] Value)>();
            for (int i = 0; i < 20; i++)
            {
                var key = new byte[4];
                BinaryPrimitives.WriteInt32BigEndian(key, random.Next(Keys));
                var value = new byte[i % 5 == 0 ? random.Next(3001, 60_000) : random.Next(1000)];
                random.NextBytes(value);
                changes.Add((key, value));
            }

            environment.Write(transaction =>
            {
                Tree tree = transaction.GetOrCreateTree("t");
                foreach ((byte[] key, byte[] value) in changes)
                    tree.Put(key, value);
                return true;
            });
            foreach ((byte[] key, byte[] value) in changes)
                Expected.Tree("t")[key] = value;
            if (random.Next(4) == 0)
                environment.Checkpoint();
        }
    }
}
