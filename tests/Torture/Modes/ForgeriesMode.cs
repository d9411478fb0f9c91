using Treepie.Storage;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Simulation;
using Treepie.Storage.Transactions;
using Treepie.Torture.Models;
using Treepie.Torture.Runs;

namespace Treepie.Torture.Modes;

/// <summary>
/// An attacker without the key changes files of an encrypted environment and corrects every checksum: a bit anywhere in a
/// page, a meta page, a bitmap or a frame, or a page in another's place. This must be reported, in words that distinguish it
/// from a failing disk, and nothing may be read that was never written.
/// </summary>
internal sealed class ForgeriesMode : IMode
{
    public const string ModeName = "forgeries";

    private const int MostPagesMore = 8;
    private const int ForgeriesOfPiece = 14;

    private static readonly string[] _words =
        ["someone", "it says it is page", "it says its value has", "EncryptionKeyException", "is cut short"];

    private readonly List<Target> _targets = [];

    public ForgeriesMode(Bases bases)
    {
        foreach (Durability durability in (Durability[])[Durability.Durable, Durability.Relaxed])
        {
            for (int kind = 1; kind < Bases.Count; kind++)
            {
                Scenario scenario = bases.Begin(
                    new Scenario
                    {
                        Seed = 1,
                        Clients = [[]],
                        IsEncrypted = true,
                        Options = Scenario.SmallOptions with { Durability = durability }
                    }, kind);
                _targets.Add(Target.Of(scenario, bases.HistoryOf(durability, kind, isEncrypted: true)));
            }
        }
    }

    public string Name => ModeName;

    public long Pieces => long.MaxValue;

    public bool IsEncrypted(long piece) => true;

    public void Run(long piece, Tally tally)
    {
        var random = new Random(unchecked((int)piece));
        Target target = _targets[(int)(piece % _targets.Count)];
        for (int i = 0; i < ForgeriesOfPiece; i++)
        {
            tally.AddRecovery(isEncrypted: true);
            switch (i % 7)
            {
                case 0 or 1:
                    ForgePage(target, random, target.Pages[random.Next(target.Pages.Count)], isHeader: i % 7 == 0);
                    break;
                case 2:
                    ForgePage(target, random, target.Image.Meta().Bitmap.First, isHeader: false);
                    break;
                case 3:
                    ForgeMeta(target, random);
                    break;
                case 4 when target.Frames.Count > 0:
                    ForgeFrame(target, random);
                    break;
                case 5 when target.Values.Count > 0:
                    LengthenValue(target, random);
                    break;
                default:
                    MovePage(target, random);
                    break;
            }
        }
    }

    private static void ForgePage(Target target, Random random, long number, bool isHeader)
    {
        byte[] page = target.Image.PageAt(number)!; // pages of targets are in their places
        int offset = isHeader ? random.Next(PageLayout.HeaderBytes) : random.Next(PageLayout.HeaderBytes, page.Length);
        if (offset is >= PageLayout.ChecksumOffset and < PageLayout.ChecksumOffset + sizeof(uint))
            return;
        if (new Page(page).Type == PageType.Bitmap)
            offset = PageLayout.HeaderBytes + random.Next((int)(target.Image.Meta().PageCount / 8) + 1);

        int bit = random.Next(8);
        page[offset] ^= (byte)(1 << bit);

        // With another type or value length, the checksum covers other bytes, so it may detect the change first.
        bool isOtherRun =
            offset is PageLayout.TypeOffset or (>= PageLayout.ValueLengthOffset and < PageLayout.ValueLengthOffset + sizeof(int));
        Verify(
            target, target.Image.WithPage(number, page), $"bit {bit} of byte {offset} of page {number} changed",
            mustBeSaid: !isOtherRun);
    }

    private static void LengthenValue(Target target, Random random)
    {
        long number = target.Values[random.Next(target.Values.Count)];
        int length = new Page(target.Image.PageAt(number)!).ValueLength; // pages of targets are in their places
        long room = target.Image.Files[FormatLimits.DataFileName].Length - (number * PageLayout.SizeBytes);
        int more = random.Next(1, MostPagesMore + 1) * PageLayout.SizeBytes;
        if (PageLayout.RunPages(length + more) * (long)PageLayout.SizeBytes > room)
            return;

        byte[] run = new byte[PageLayout.RunPages(length + more) * PageLayout.SizeBytes];
        target.Image.Files[FormatLimits.DataFileName].Read(run, number * PageLayout.SizeBytes);
        var header = new Page(run);
        header.ValueLength += more;
        DiskImage image = target.Image.WithPage(number, run);
        string what = $"the value at page {number} longer by {more} bytes";
        Verify(target, image, what, mustBeSaid: true);
        VerifyOthers(target, image, what, number);
    }

    /// <summary>Verifies that reading a forged page leaves the decrypted copies of the other pages unchanged.</summary>
    private static void VerifyOthers(Target target, DiskImage image, string what, long forged)
    {
        var disk = new SimulatedDisk(new Random(1), image) { MapsSeeWrites = true };
        using StorageEnvironment environment = StorageEnvironment.Open(
            new World(disk, new SimulatedClock(), new Random(7), IsBackgroundAllowed: false), target.Scenario.OptionsWith(0));
        using ReadTransaction read = environment.BeginRead();
        var before = new Dictionary<long, ulong>();
        foreach (long number in target.Pages)
            if (number != forged && environment.State.Store.TryRead(number, out Span<byte> bytes))
                before.Add(number, FrameHash.Compute(bytes));
        Read(target, environment, what, []);
        _ = environment.State.Store.TryRead(forged, out _);
        foreach ((long number, ulong hash) in before)
            if (!environment.State.Store.TryRead(number, out Span<byte> bytes) || FrameHash.Compute(bytes) != hash)
                throw new TortureFailure($"With {what} page {number} changed in memory when that value was read.");
        disk.PowerOff();
    }

    private static void ForgeMeta(Target target, Random random)
    {
        int slot = target.Image.Meta().Slot,
            offset = random.Next(2) == 0 ? random.Next(64, 256) : random.Next(MetaPage.CopyBytes),
            bit = random.Next(8);
        if (offset is >= PageLayout.ChecksumOffset and < PageLayout.ChecksumOffset + sizeof(uint))
            return;

        DiskImage image = target.Image.WithMeta(slot, copy => copy[offset] ^= (byte)(1 << bit));

        // Bytes that are never read may have any value. If the page is no longer a meta page, the other one counts, as after a
        // crash, or the file is foreign.
        byte[] before = new byte[MetaPage.CopyBytes], after = new byte[MetaPage.CopyBytes];
        target.Image.Meta().WriteCopy(before);
        bool isMeta = false;
        try
        {
            image.MetaAt(slot)?.WriteCopy(after);
            isMeta = image.MetaAt(slot) is not null;
        }
        catch (ForeignDataException)
        {
        }

        Verify(
            target, image, $"bit {bit} of byte {offset} of meta page {slot} changed",
            mustBeSaid: isMeta && !before.AsSpan().SequenceEqual(after) && image.Meta().FindFault() is null);
    }

    private static void ForgeFrame(Target target, Random random)
    {
        (string file, long place) = target.Frames[random.Next(target.Frames.Count)];
        int length = target.Image.FrameAt(file, place)!.Length; // it existed when the target was created
        bool isPayload = random.Next(4) > 0;
        int offset = isPayload ? random.Next(FrameHeader.SizeBytes, length) : random.Next(FrameHeader.SizeBytes),
            bit = random.Next(8);
        if (!isPayload && offset is >= 48 and < 52)
            return; // with another length, what follows is no frame

        DiskImage image = target.Image.WithFrame(file, place, frame => frame[offset] ^= (byte)(1 << bit));

        // A header that does not continue the log ends it, as after a torn write: the last frame cannot be distinguished from a
        // truncated one.
        Verify(target, image, $"bit {bit} of byte {offset} of the frame at {place} of '{file}' changed", mustBeSaid: isPayload);
    }

    private static void MovePage(Target target, Random random)
    {
        long from = target.Pages[random.Next(target.Pages.Count)], to = target.Pages[random.Next(target.Pages.Count)];
        byte[] page = target.Image.PageAt(from)!, place = target.Image.PageAt(to)!; // pages of targets are in their places
        if (from == to || page.Length != place.Length)
            return;

        var header = new Page(page) { Number = to };
        if (random.Next(2) == 0)
            header.Birth = new Page(place).Birth;
        Verify(target, target.Image.WithPage(to, page), $"page {from} in the place of page {to}, as page {to}", mustBeSaid: true);
    }

    private static void Verify(Target target, DiskImage image, string what, bool mustBeSaid)
    {
        var disk = new SimulatedDisk(new Random(1), image) { MapsSeeWrites = true };
        StorageEnvironment? environment = null;
        var said = new List<string>();
        try
        {
            environment = StorageEnvironment.Open(
                new World(disk, new SimulatedClock(), new Random(7), IsBackgroundAllowed: false), target.Scenario.OptionsWith(0));
            Read(target, environment, what, said);
            var other = new SimulatedDisk(new Random(1), image) { MapsSeeWrites = true };
            CheckReport report = StorageCheck.Run(
                new World(other, new SimulatedClock(), new Random(7), IsBackgroundAllowed: false),
                target.Scenario.OptionsWith(0).EncryptionKey, null, CancellationToken.None);
            said.AddRange(report.Problems.Select(problem => problem.What));
        }
        catch (StorageException error)
        {
            said.Add($"{error.GetType().Name}: {error.Message}");
        }
        catch (Exception error) when (error is not TortureFailure)
        {
            throw new TortureFailure(
                $"With {what}: {error.GetType().Name}: {error.Message}", error.ToString().Split('\n'), error);
        }
        finally
        {
            disk.PowerOff();
            environment?.Dispose();
        }

        if (mustBeSaid && !said.Exists(text => _words.Any(word => text.Contains(word, StringComparison.Ordinal))))
            throw new TortureFailure(
                $"With {what} nobody says so; {(said.Count == 0 ? "all seems well" : $"what is said is: {said[0]}")}.", said);
    }

    private static void Read(Target target, StorageEnvironment environment, string what, List<string> said)
    {
        using ReadTransaction read = environment.BeginRead();
        long oldest = target.Scenario.Options.Durability == Durability.Durable ? target.History.Last - 1 : target.History.First;
        if (read.TransactionId < oldest || read.TransactionId > target.History.Last)
            throw new TortureFailure(
                $"With {what} transaction {read.TransactionId} is found, {oldest} to {target.History.Last} were there.");

        // Twice: reading a forged page must not change what was read before.
        for (int pass = 0; pass < 2; pass++)
        {
            try
            {
                if (target.History.At(read.TransactionId).Difference(read) is { } difference)
                    throw new TortureFailure($"With {what} something else is read: {difference}.");
            }
            catch (CorruptionException error)
            {
                said.Add(error.Message);
            }
        }
    }

    /// <summary>
    /// An environment, the pages in the file that a reader of it accesses, and the frames that opening reads.
    /// </summary>
    private sealed record Target(
        Scenario Scenario, DiskImage Image, History History, List<long> Pages, List<(string File, long Offset)> Frames)
    {
        /// <summary>The pages that begin a long value.</summary>
        public List<long> Values { get; } =
            [.. Pages.Where(number => new Page(Image.PageAt(number)!).Type == PageType.Overflow)]; // in their places

        public static Target Of(Scenario scenario, History history)
        {
            DiskImage image = scenario.Start;
            var disk = new SimulatedDisk(new Random(1), image);
            using StorageEnvironment environment = StorageEnvironment.Open(
                new World(disk, new SimulatedClock(), new Random(7), IsBackgroundAllowed: false), scenario.OptionsWith(0));
            MetaPage meta = image.Meta();
            ulong[] live = environment.State.Space.CopyLive();
            var pages = new List<long>();
            for (long page = meta.OtherBitmap.First + meta.OtherBitmap.Pages; page < meta.PageCount; page++)
            {
                bool isLive = (live[page / 64] & (1UL << (int)(page % 64))) != 0;
                bool isBitmap = page >= meta.Bitmap.First && page < meta.Bitmap.First + meta.Bitmap.Pages;
                if (isLive
                    && !isBitmap
                    && environment.State.Store.FrameOf(page) == 0
                    && image.PageAt(page) is { } bytes
                    && new Page(bytes).Type != PageType.Bitmap)
                    pages.Add(page);
            }

            disk.PowerOff();
            var frames = new List<(string, long)>();
            foreach ((long use, (string file, JournalFileHeader header)) in image.JournalUses())
                if (!meta.IsClean && use >= meta.Journal.Use)
                    frames.AddRange(
                        image.FrameOffsets(file, header)
                            .Where(offset => use > meta.Journal.Use || offset >= meta.Journal.Offset)
                            .Select(offset => (file, offset)));
            return new Target(scenario, image, history, pages, frames);
        }
    }
}
