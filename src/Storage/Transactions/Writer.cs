using System.Buffers.Binary;
using Treepie.Storage.Format;
using Treepie.Storage.Journal;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Runs one batch: commands one after the other, then one journal frame and one sync, then the new state is published and
/// everyone told. Only the holder of the lane calls it.
/// </summary>
/// <remarks>
/// <code>
/// commands ──► Finish (catalogue) ──► MakeRoom ──► Append ──► publish ──► complete
///    │ throws: undone alone   │ disk full: all undone   │ fails: fail-stop, outcome unknown
/// </code>
/// </remarks>
internal sealed class Writer(EnvironmentState state, JournalWriter? journal)
{
    /// <summary>Commands of one batch, and pages after which no further command joins: bounds how long those at the front wait.</summary>
    private const int MaxCommands = 1024;
    private const int MaxPages = 2048;

    private readonly List<WriteRequest> _kept = [];
    private readonly Queue<WriteRequest> _retries = new();
    private readonly PageLocator _locator = new();

    /// <summary>Whether anything was committed since opening.</summary>
    public bool HasCommitted { get; private set; }

    /// <summary>
    /// Whether commands found the disk full and wait to be run a second time: a checkpoint before that gives journal files and pages free.
    /// </summary>
    public bool HasRetries => _retries.Count > 0;

    /// <summary>Runs what waits in the lane, up to the bounds.</summary>
    public void ExecuteBatch(CommitLane lane)
    {
        if (state.Failure is { } failure)
        {
            while (TryNext(lane, out WriteRequest? request))
                request!.Complete(Stopped(failure)); // TryNext gave it
            return;
        }

        _kept.Clear();
        MergedBatch? batch = null;
        try
        {
            state.Reclaim();
            batch = new MergedBatch(state.Store, state.Space, state.Current, _locator, state.Clock);
            RunCommands(lane, batch);
            if (batch.HasChanges)
                Commit(batch);
        }
        catch (Exception error)
        {
            if (state.Failure is null)
                batch?.Pages.Discard();
            foreach (WriteRequest request in _kept)
                Fail(request, error);
            _kept.Clear();
            return;
        }

        foreach (WriteRequest request in _kept)
            request.Complete(null);
        _kept.Clear();
    }

    private static CommitOutcomeUnknownException Stopped(Exception failure) => new(
        $"Writing has stopped because the journal could not be written: {failure.Message} Reads go on. Close and open the environment again to recover what the disk has.", failure);

    private void RunCommands(CommitLane lane, MergedBatch batch)
    {
        for (int i = 0; i < MaxCommands && batch.Pages.WrittenCount < MaxPages && TryNext(lane, out WriteRequest? next); i++)
        {
            WriteRequest request = next!; // TryNext gave it
            var transaction = new WriteTransaction(batch, batch.Birth + _kept.Count);
            try
            {
                batch.BeginCommand();
                request.Run(transaction);
                batch.Pages.EndCommand();
                transaction.Close(keep: true);
                _kept.Add(request);
                if (batch.Snapshots.EndsBatch)
                    break;
            }
            catch (Exception error)
            {
                transaction.Close(keep: false);
                batch.UndoCommand();
                Fail(request, error);
                if (HasRetries)
                    break;
            }
        }
    }

    private void Commit(MergedBatch batch)
    {
        batch.Finish();
        long last = batch.Birth + _kept.Count - 1;
        if (journal is not null)
        {
            Encode(batch, journal.Buffer);
            journal.MakeRoom();
            try
            {
                journal.Append(batch.Birth, last);
            }
            catch (Exception error)
            {
                state.Failure = error;
                throw Stopped(error);
            }
        }

        foreach (PageWriter.FreedRun freed in batch.Pages.Freed)
            Free(freed, batch.Birth);
        state.Current = new Snapshot(last, batch.Catalogue, batch.NextTreeId, state.Space.PageCount) { System = batch.System, Named = batch.Named };
        HasCommitted = true;
    }

    private void Free(PageWriter.FreedRun freed, long transaction)
    {
        if (freed.Freed == 0)
            state.Space.Free(freed.Run, freed.Birth, transaction);
        else
            state.Space.FreeUnpinned(freed.Run, freed.Birth, freed.Freed, transaction);
    }

    private void Fail(WriteRequest request, Exception error)
    {
        if (error is DiskFullException && !request.IsRetry)
        {
            request.IsRetry = true;
            _retries.Enqueue(request);
        }
        else
        {
            request.Complete(error);
        }
    }

    private bool TryNext(CommitLane lane, out WriteRequest? request) => _retries.TryDequeue(out request) || lane.TryNext(out request);

    private void Encode(MergedBatch batch, FrameBuffer buffer)
    {
        buffer.Clear();
        Span<byte> head = buffer.Room(JournalPayload.HeadBytes + ((long)batch.Pages.Freed.Count * JournalPayload.FreedRunBytes));
        head.Clear();
        batch.Catalogue.Write(head);
        BinaryPrimitives.WriteUInt32LittleEndian(head[32..], batch.NextTreeId);
        BinaryPrimitives.WriteInt64LittleEndian(head[40..], state.Space.PageCount);
        BinaryPrimitives.WriteInt32LittleEndian(head[48..], batch.Pages.Freed.Count);
        batch.System.Write(head[56..]);
        int offset = JournalPayload.HeadBytes;
        foreach (PageWriter.FreedRun freed in batch.Pages.Freed)
        {
            BinaryPrimitives.WriteInt64LittleEndian(head[offset..], freed.Run.First);
            BinaryPrimitives.WriteInt32LittleEndian(head[(offset + 8)..], freed.Run.Pages);
            offset += JournalPayload.FreedRunBytes;
        }

        buffer.Advance(head.Length);
        int pages = 0;
        foreach (PageWriter.WrittenPage written in batch.Pages.Written)
        {
            if (written.Number < 0)
                continue;

            EncodePage(written, buffer);
            pages++;
        }

        buffer.WriteInt32At(FrameHeader.SizeBytes + 36, pages);
    }

    private void EncodePage(PageWriter.WrittenPage written, FrameBuffer buffer)
    {
        PageStore store = state.Store;
        Span<byte> bytes = store.Read(written.Number);
        if (new Page(bytes) is { Type: PageType.Overflow } first)
        {
            int length = PageLayout.HeaderBytes + first.ValueLength;
            ReadOnlySpan<byte> run = store.Scratch.Bytes(store.FrameOf(written.Number), length);
            buffer.Advance(JournalPayload.WriteWhole(
                buffer.Room((long)length + JournalPayload.PageHeadBytes + sizeof(int)), written.Number, run, written.Pages));
            return;
        }

        ReadOnlySpan<byte> original = written.From == 0 ? default : store.Read(written.From);
        buffer.Advance(JournalPayload.WritePage(buffer.Room(JournalPayload.MaxPageBytes), written.Number, written.From, bytes, original));
    }
}
