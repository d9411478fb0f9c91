using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Tests.Encryption;

/// <summary>
/// An attacker who can change the files of an encrypted environment, knows their format and corrects every checksum, but
/// does not have the key. Each kind of change must be reported with its own message, and nothing may be read that was never
/// written. Changes that cannot be detected are tested too.
/// </summary>
public sealed class TamperingTests : IDisposable
{
    private const int Keys = 60;
    private const string TreeName = "tree";
    private static readonly StorageOptions _small = new()
    {
        MaxDataFileBytes = 64 << 20,
        ScratchReserveBytes = 64 << 20,
        FirstJournalFileBytes = 16 << 10,
        MaxJournalFileBytes = 16 << 10
    };

    private readonly EncryptionKey _key = EncryptionKey.Generate();

    public void Dispose() => _key.Dispose();

    [Theory]
    [InlineData(0, "it says it is page")] // number
    [InlineData(8, "someone without the key")] // birth
    [InlineData(16, "someone without the key")] // tree
    [InlineData(22, "someone without the key")] // entries
    [InlineData(24, "someone without the key")] // start of the heap
    [InlineData(40, "someone without the key")] // tag
    [InlineData(57, "someone without the key")] // incarnation
    [InlineData(64, "someone without the key")] // first encrypted byte
    [InlineData(8191, "someone without the key")] // last encrypted byte
    public void A_bit_of_a_page(int offset, string words)
    {
        DiskImage image = Written(checkpoint: true);
        long leaf = LeafOf(image);
        byte[] page = image.PageAt(leaf)!; // the page exists
        page[offset] ^= 4;
        DiskImage forged = image.WithPage(leaf, page);
        Assert.Contains(words, Problems(forged), StringComparison.Ordinal);
        Assert.Contains($"Page {leaf}", Assert.Throws<CorruptionException>(() => Read(forged)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_page_in_another_place()
    {
        DiskImage image = Written(checkpoint: true);
        long leaf = LeafOf(image),
            other = Pages(image).First(page => page != leaf && new Page(image.PageAt(page)!).Type == PageType.Leaf);
        byte[] page = image.PageAt(other)!; // the page exists
        Assert.Contains($"it says it is page {other}", Problems(image.WithPage(leaf, page)), StringComparison.Ordinal);
        var header = new Page(page) { Number = leaf, Birth = new Page(image.PageAt(leaf)!).Birth };
        Assert.Contains("someone without the key", Problems(image.WithPage(header.Number, page)), StringComparison.Ordinal);
    }

    [Fact]
    public void A_page_of_an_older_state()
    {
        // The number of a page is reused for another page of the same kind.
        DiskImage before = Written(checkpoint: true), after = before;
        long place = 0;
        for (int round = 0; place == 0 && round < 20; round++)
        {
            after = Go(after, environment =>
            {
                Write(environment, round);
                environment.Checkpoint();
            });
            place = Pages(after)
                .FirstOrDefault(page => before.PageAt(page) is { } old
                    && new Page(old) is { Incarnation: not 0, Type: PageType.Leaf } older
                    && new Page(after.PageAt(page)!) is { Type: PageType.Leaf } newer && newer.Birth != older.Birth);
        }

        Assert.NotEqual(0, place);
        DiskImage mixed = after.WithPage(place, before.PageAt(place)!);
        Assert.Contains("a write was lost", Problems(mixed), StringComparison.Ordinal);
    }

    [Fact]
    public void A_page_that_is_not_encrypted_and_one_that_is_in_a_plain_environment()
    {
        DiskImage image = Written(checkpoint: true), plain = Written(checkpoint: true, isPlain: true);
        long leaf = LeafOf(image);
        byte[] page = plain.PageAt(LeafOf(plain))!, hidden = image.PageAt(leaf)!;
        var header = new Page(page) { Number = leaf, Birth = new Page(hidden).Birth };
        Assert.Contains(
            "it is not encrypted though its checksum is right", Problems(image.WithPage(header.Number, page)),
            StringComparison.Ordinal);

        header = new Page(hidden) { Number = LeafOf(plain), Birth = new Page(plain.PageAt(LeafOf(plain))!).Birth };
        Assert.Contains(
            "it is encrypted, and this environment is not", Problems(plain.WithPage(header.Number, hidden), isPlain: true),
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_bitmap_page()
    {
        DiskImage image = Written(checkpoint: true);
        long bitmap = image.Meta().Bitmap.First;
        byte[] page = image.PageAt(bitmap)!; // the page exists
        page[PageLayout.HeaderBytes] ^= 0x80;
        DiskImage forged = image.WithPage(bitmap, page);
        Assert.Contains("its tag is not that of its content", Problems(forged), StringComparison.Ordinal);
        Assert.Equal(Keys, Read(forged)); // the bitmap is computed again
    }

    [Theory]
    [InlineData(96)] // checkpoint: a newer one would count
    [InlineData(104)] // last transaction
    [InlineData(120)] // root of the catalogue
    [InlineData(156)] // closed cleanly
    [InlineData(168)] // position where the journal continues
    [InlineData(192)] // bitmap
    public void A_meta_page(int offset)
    {
        DiskImage image = Written(checkpoint: true),
            forged = image.WithMeta(
                image.Meta().Slot, copy => copy[offset] = (byte)(offset == 96 ? copy[offset] + 2 : copy[offset] ^ 1));
        CorruptionException error = Assert.Throws<CorruptionException>(() => Read(forged));
        // These two values are impossible, whoever wrote them.
        Assert.True(
            error.Message.Contains("was changed by someone who does not have the key", StringComparison.Ordinal)
                || offset is 168 or 192,
            error.Message);
    }

    [Fact]
    public void A_meta_page_without_its_mark_of_encryption()
    {
        DiskImage image = Written(checkpoint: true), forged = image.WithMeta(image.Meta().Slot, copy => copy[156] ^= 2);
        Assert.Contains(
            "is not encrypted, but a key was given", Assert.Throws<EncryptionKeyException>(() => Read(forged)).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void The_wrapped_keys()
    {
        DiskImage image = Written(checkpoint: true), forged = image.WithMeta(image.Meta().Slot, copy => copy[256 + 70] ^= 1);
        Assert.Throws<EncryptionKeyException>(() => Read(forged));
    }

    [Theory]
    [InlineData(FrameHeader.SizeBytes)]
    [InlineData(FrameHeader.SizeBytes + 100)]
    [InlineData(FrameHeader.TagOffset)]
    public void A_frame(int offset)
    {
        DiskImage image = Written(checkpoint: false);
        (string file, long place) = LastFrame(image);
        DiskImage forged = image.WithFrame(file, place, frame => frame[offset] ^= 1);
        CorruptionException error = Assert.Throws<CorruptionException>(() => Read(forged));
        Assert.Contains(
            "was not sealed with this environment's key: someone without it made or changed it", error.Message,
            StringComparison.Ordinal);
        Assert.Contains(file, error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_frame_that_is_not_encrypted()
    {
        DiskImage image = Written(checkpoint: false);
        (string file, long place) = LastFrame(image);
        DiskImage forged = image.WithFrame(file, place, frame => frame[56] = 0);
        Assert.Contains(
            "is not encrypted, and the environment is: someone put it there",
            Assert.Throws<CorruptionException>(() => Read(forged)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_journal_file_of_another_environment()
    {
        DiskImage image = Written(checkpoint: false), other = Written(checkpoint: false);
        (string file, long place) = LastFrame(image);
        Assert.Contains(
            "belongs to another store",
            Assert.Throws<ForeignDataException>(() => Read(image.With(file, other.Files[file]))).Message,
            StringComparison.Ordinal);

        // With this environment's id, and the next frame with the expected salt, numbers and hash of the previous frame.
        JournalFileHeader own = image.JournalUses().Values.First(use => use.File == file).Header;
        byte[] expected = image.FrameAt(file, place)!; // it exists
        DiskImage forged = image.With(file, other.Files[file])
            .WithJournalHeader(file, block => own.Write(block))
            .WithFrame(file, place, frame =>
            {
                expected.AsSpan(0, 48).CopyTo(frame);
                expected.AsSpan(64, sizeof(ulong)).CopyTo(frame.AsSpan(64));
            });
        Assert.Contains(
            "was not sealed with this environment's key", Assert.Throws<CorruptionException>(() => Read(forged)).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void An_older_data_file_and_an_older_journal_file()
    {
        DiskImage before = Written(checkpoint: true), after = before;
        for (int round = 0; round < 4; round++)
        {
            int version = round;
            after = Go(after, environment =>
            {
                for (int i = 0; i < 8; i++)
                    Write(environment, version);
                environment.Checkpoint();
                Write(environment, version + 1);
            });
        }

        string message =
            Assert.Throws<CorruptionException>(
                () => Read(after.With(FormatLimits.DataFileName, before.Files[FormatLimits.DataFileName]))).Message;
        Assert.True(
            message.Contains("is missing", StringComparison.Ordinal) || message.Contains("breaks off", StringComparison.Ordinal),
            message);

        (string file, _) = LastFrame(after);
        DiskContent? older = before.Files.GetValueOrDefault(file);
        DiskImage mixed = older is null ? after.Without(file) : after.With(file, older);
        message = Assert.Throws<CorruptionException>(() => Read(mixed)).Message;
        Assert.True(
            message.Contains("is missing", StringComparison.Ordinal) || message.Contains("breaks off", StringComparison.Ordinal),
            message);
    }

    /// <summary>
    /// As documented in docs/reliability.md: without a counter outside of the disk, a truncated log looks like one after a
    /// power failure, and an older state is a valid state.
    /// </summary>
    [Fact]
    public void A_log_that_was_cut_off_behind_its_last_checkpoint_is_not_noticed()
    {
        DiskImage image = Written(checkpoint: false);
        (string file, long place) = LastFrame(image);
        DiskContent cut = image.Files[file].Fork();
        cut.Write(new byte[FrameHeader.SizeBytes], place);
        Assert.Equal(Keys, Read(image.With(file, cut)));
    }

    /// <summary>
    /// As documented in docs/reliability.md: both were sealed with keys of this environment, under the same number and
    /// transaction, and nothing in their parent distinguishes them.
    /// </summary>
    [Fact]
    public void A_page_of_a_copy_that_went_another_way_is_not_noticed_and_neither_is_a_whole_older_state()
    {
        DiskImage image = Written(checkpoint: true);
        DiskImage one = Go(image, environment => Change(environment, "one")),
            other = Go(image, environment => Change(environment, "two"));
        long page = Pages(one)
            .First(page => new Page(one.PageAt(page)!) is { Type: PageType.Leaf } leaf && other.PageAt(page) is { } twin
                && new Page(twin).Birth == leaf.Birth
                && new Page(twin).Incarnation != leaf.Incarnation
                && new Page(twin).TreeId == leaf.TreeId
                && leaf.TreeId >= TreeRecord.FirstId);
        DiskImage mixed = one.WithPage(page, other.PageAt(page)!);
        Assert.Equal("", Problems(mixed));
        Assert.Equal(Keys, Read(image));

        void Change(StorageEnvironment environment, string text)
        {
            environment.Write(
                transaction => transaction.GetOrCreateTree(TreeName).Put(KeyOf(0), System.Text.Encoding.UTF8.GetBytes(text)));
            environment.Checkpoint();
        }
    }

    private static byte[] KeyOf(int number) => System.Text.Encoding.UTF8.GetBytes($"key {number:d4}");

    private static void Write(StorageEnvironment environment, int version) => environment.Write(transaction =>
    {
        var tree = transaction.GetOrCreateTree(TreeName);
        for (int i = 0; i < Keys; i++)
            tree.Put(KeyOf(i), [.. Enumerable.Repeat((byte)(i + version), 400)]);
        return true;
    });

    /// <summary>
    /// Creates an environment with some leaves, as a power failure leaves it after a checkpoint, or with its last commits in
    /// the journal only.
    /// </summary>
    private DiskImage Written(bool checkpoint, bool isPlain = false) => Go(
        DiskImage.Empty,
        environment =>
        {
            Write(environment, 0);
            if (!checkpoint)
                environment.Checkpoint();
            Write(environment, 1);
            if (checkpoint)
                environment.Checkpoint();
        },
        isPlain);

    private DiskImage Go(DiskImage start, Action<StorageEnvironment> work, bool isPlain = false)
    {
        var disk = new SimulatedDisk(new Random(1), start) { MapsSeeWrites = true };
        using StorageEnvironment environment = Open(disk, isPlain);
        work(environment);
        DiskImage left = new PowerLoss(disk).None().Build();
        disk.PowerOff();
        return left;
    }

    private StorageEnvironment Open(SimulatedDisk disk, bool isPlain) => StorageEnvironment.Open(
        new World(disk, new SimulatedClock(), new Random(), IsBackgroundAllowed: false),
        isPlain ? _small : _small with { EncryptionKey = _key });

    /// <summary>Opens the environment and reads everything. Returns the number of keys.</summary>
    private long Read(DiskImage image)
    {
        var disk = new SimulatedDisk(new Random(1), image) { MapsSeeWrites = true };
        using StorageEnvironment environment = Open(disk, isPlain: false);
        using ReadTransaction read = environment.BeginRead();
        long count = 0;
        using Cursor cursor = read.FindTree(TreeName)!.OpenCursor();
        for (bool more = cursor.MoveFirst(); more; more = cursor.MoveNext())
            count += cursor.Value.Length > 0 ? 1 : 0;
        disk.PowerOff();
        return count;
    }

    /// <summary>Opens the environment and returns the problems found by a check.</summary>
    private string Problems(DiskImage image, bool isPlain = false)
    {
        var disk = new SimulatedDisk(new Random(1), image) { MapsSeeWrites = true };
        using StorageEnvironment environment = Open(disk, isPlain);
        CheckReport report = environment.Check(TestContext.Current.CancellationToken);
        disk.PowerOff();
        return string.Join("\n", report.Problems.Select(problem => problem.What));
    }

    /// <summary>Pages that the checkpoint refers to and that are stored at their positions.</summary>
    private static List<long> Pages(DiskImage image)
    {
        MetaPage meta = image.Meta();
        byte[] bitmap = image.PageAt(meta.Bitmap.First)!; // the page exists
        var pages = new List<long>();
        for (long page = FormatLimits.FirstDataPage; page < meta.PageCount; page++)
            if ((bitmap[PageLayout.HeaderBytes + (page / 8)] & (1 << (int)(page % 8))) != 0
                && image.PageAt(page) is { } bytes
                && new Page(bytes).Type != PageType.Bitmap)
                pages.Add(page);
        return pages;
    }

    private static long LeafOf(DiskImage image) =>
        Pages(image)
            .First(page => new Page(image.PageAt(page)!) is { Type: PageType.Leaf } leaf && leaf.TreeId >= TreeRecord.FirstId);

    private static (string File, long Offset) LastFrame(DiskImage image)
    {
        (string file, JournalFileHeader header) = image.JournalUses().Values.Last();
        return (file, image.FrameOffsets(file, header)[^1]);
    }
}
