using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Journal;
using Treepie.Storage.Simulation;
using Treepie.Tests.Support;

namespace Treepie.Storage.Tests.Journal;

public sealed class JournalArchiveTests
{
    private static readonly StorageOptions _options = new()
    {
        MaxDataFileBytes = 64 << 20,
        ScratchReserveBytes = 64 << 20,
        ScratchBudgetBytes = 1 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 16 << 10,
    };

    private readonly SimulatedDisk _disk = new(new Random(Seed.Next()));
    private readonly MemoryArchiver _archive = new();

    [Fact]
    public void Every_use_reaches_the_archive_whole_and_in_order_over_sessions()
    {
        for (int session = 0; session < 3; session++)
        {
            using StorageEnvironment environment = Open();
            Write(environment, 100);
        }

        Assert.True(_archive.Uses.Count > 10);
        Assert.Equal(Enumerable.Range(1, _archive.Uses.Count).Select(use => (long)use), _archive.Uses.Keys);
        long frames = 0;
        foreach (byte[] file in _archive.Uses.Values)
            for (int at = JournalFileHeader.BlockBytes; at < file.Length; at += FrameHeader.AlignmentBytes)
                if (FrameHeader.TryRead(file.AsSpan(at), out FrameHeader header) && header.Frame == frames + 1)
                    frames++;
        Assert.True(frames >= 250, $"Of 300 frames {frames} are in the archive; those of the last use come with the next session.");
    }

    [Fact]
    public void A_file_is_not_used_again_before_the_archiver_has_it()
    {
        _archive.Error = new IOException("The archive is away.");
        using StorageEnvironment environment = Open();
        Write(environment, 60);
        environment.Checkpoint(TestContext.Current.CancellationToken);
        int waiting = environment.GetStatistics().UnarchivedJournalFiles;
        Assert.True(waiting > 5);
        Assert.Equal("The archive is away.", environment.GetStatistics().LastArchiveError);
        _archive.Error = null;
        Write(environment, 20);
        Assert.Equal(0, environment.GetStatistics().UnarchivedJournalFiles);
        Assert.Null(environment.GetStatistics().LastArchiveError);
        Assert.Equal(0, environment.GetStatistics().JournalFilesLostToArchive);
        Assert.Equal(Enumerable.Range(1, _archive.Uses.Count).Select(use => (long)use), _archive.Uses.Keys);
    }

    [Fact]
    public void An_archiver_that_stays_away_stops_no_commit_and_bounds_the_files()
    {
        _archive.Error = new IOException("The archive is away.");
        using StorageEnvironment environment = Open(8);
        Write(environment, 50);
        int files = 0;
        for (int i = 0; i < 10; i++)
        {
            Write(environment, 30);
            environment.Checkpoint(TestContext.Current.CancellationToken);
            files = Math.Max(files, _disk.List().Count);
        }

        Assert.InRange(files, 8, 8 + 10);
        Assert.Equal(8, environment.GetStatistics().UnarchivedJournalFiles);
        Assert.True(environment.GetStatistics().JournalFilesLostToArchive > 0);
        _archive.Error = null;
        Write(environment, 20);
        Assert.True(_archive.Uses.Keys.First() > 1, "The gap shows in the numbers.");
    }

    private StorageEnvironment Open(int maxWaiting = 32) => StorageEnvironment.Open(
        new World(_disk, TimeProvider.System, new Random(3), false), _options with { JournalArchiver = _archive, MaxUnarchivedJournalFiles = maxWaiting });

    private static void Write(StorageEnvironment environment, int commits)
    {
        for (int i = 0; i < commits; i++)
            environment.Write(transaction => transaction.GetOrCreateTree("t").Put(BitConverter.GetBytes(i), new byte[100]));
    }

    private sealed class MemoryArchiver : IJournalArchiver
    {
        public SortedDictionary<long, byte[]> Uses { get; } = [];

        public Exception? Error { get; set; }

        public long LastUse => Uses.Count == 0 ? 0 : Uses.Keys.Last();

        public void Archive(JournalSegment segment, CancellationToken cancellationToken)
        {
            if (Error is { } error)
                throw error;

            var bytes = new byte[segment.LengthBytes];
            Assert.Equal(bytes.Length, segment.Read(bytes, 0));
            Uses.Add(segment.Use, bytes);
        }
    }
}
