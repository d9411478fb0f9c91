using System.Buffers.Binary;
using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Journal;
using Treepie.Storage.Paging;
using Treepie.Storage.Snapshots;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Brings the state of the last checkpoint, and on top of it the frames of the journal, into memory. Writes nothing, so it can be
/// cut off and run again.
/// </summary>
internal sealed class Recovery(PageStore store, FreePages space, MetaPage meta)
{
    private readonly Dictionary<long, PageRun> _freed = [];
    private Snapshot _snapshot = new(meta.LastTransaction, meta.Catalogue, meta.NextTreeId, meta.PageCount) { System = meta.System };
    private long _pageCount = meta.PageCount;

    /// <summary>Recovers; returns the newest state and where the journal ends.</summary>
    public Snapshot Run(JournalReader journal, out JournalPosition end)
    {
        end = journal.Read(meta.Journal, meta.LastTransaction, meta.IsClean, Apply);
        space.FinishLoad(_pageCount, _freed.Values, _snapshot.TransactionId);
        return _snapshot with { Named = NamedSnapshots.Read(store, _snapshot.System) };
    }

    private void Apply(FrameHeader header, ReadOnlySpan<byte> payload)
    {
        if (JournalPayload.FindFault(payload) is { } fault)
            throw store.CorruptFrame(header.Frame, header.FirstTransaction, fault);

        int pages = BinaryPrimitives.ReadInt32LittleEndian(payload[36..]);
        int freed = BinaryPrimitives.ReadInt32LittleEndian(payload[48..]);
        _pageCount = Math.Max(_pageCount, BinaryPrimitives.ReadInt64LittleEndian(payload[40..]));
        store.GrowTable(_pageCount);

        ReadOnlySpan<byte> runs = payload.Slice(JournalPayload.HeadBytes, freed * JournalPayload.FreedRunBytes);
        ReadOnlySpan<byte> rest = payload[(JournalPayload.HeadBytes + runs.Length)..];
        for (int i = 0; i < pages; i++)
            rest = rest[ApplyPage(header.FirstTransaction, rest)..];

        // Freed pages go last: new ones are copied from them.
        for (; runs.Length > 0; runs = runs[JournalPayload.FreedRunBytes..])
            Free(new PageRun(BinaryPrimitives.ReadInt64LittleEndian(runs), BinaryPrimitives.ReadInt32LittleEndian(runs[8..])));

        _snapshot = new Snapshot(
            header.LastTransaction,
            TreeRecord.Read(payload),
            BinaryPrimitives.ReadUInt32LittleEndian(payload[32..]),
            _pageCount)
        {
            System = TreeRecord.Read(payload[56..]),
        };
    }

    private int ApplyPage(long birth, ReadOnlySpan<byte> source)
    {
        long number = BinaryPrimitives.ReadInt64LittleEndian(source);
        long from = BinaryPrimitives.ReadInt64LittleEndian(source[8..]);
        var run = new PageRun(number, BinaryPrimitives.ReadInt32LittleEndian(source[JournalPayload.RunOffset..]));
        for (long page = run.First; page < run.First + run.Pages; page++)
            _freed.Remove(page);

        store.Forget(number);
        space.LoadLive(run);
        Span<byte> bytes = store.Place(number, run.Pages, birth, out _);
        if (from != 0)
            ReadOriginal(from, BinaryPrimitives.ReadInt64LittleEndian(source[JournalPayload.FromBirthOffset..])).CopyTo(bytes);
        else
            bytes.Clear();

        int length = JournalPayload.Apply(source, bytes);
        var made = new Page(bytes);
        if (made.Number != number || made.Birth != birth || (made.Type == PageType.Overflow && PageLayout.RunPages(made.ValueLength) != run.Pages))
            throw store.Corrupt(number, $"a frame of the journal makes it page {made.Number}, born {made.Birth}, type {made.Type}");
        if (PageShape.FindFault(bytes) is { } fault)
            throw store.Corrupt(number, $"as a frame of the journal makes it, {fault}");
        return length;
    }

    /// <summary>The page that another is copied from, as it was: one of an earlier frame, or of the checkpoint.</summary>
    private Span<byte> ReadOriginal(long number, long birth)
    {
        Span<byte> bytes = store.Read(number);
        if (new Page(bytes).Birth != birth)
            throw store.Corrupt(
                number, $"made by transaction {new Page(bytes).Birth}, the journal knows it from {birth}: a write was lost, or a newer meta page than that of transaction {meta.LastTransaction} is damaged");
        return bytes;
    }

    private void Free(PageRun run)
    {
        store.Forget(run.First);
        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            space.LoadDead(page);
            _freed[page] = new PageRun(page, 1);
        }
    }
}
