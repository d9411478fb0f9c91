using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Journal;
using Treepie.Storage.Memory;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Runs batches: executes commands one after the other on the newest executed state, writes one journal frame with one sync,
/// publishes the new state and answers all callers. All members except <see cref="Flush"/> must be called by the leader of
/// the commit queue (see <see cref="CommitQueue"/>).
/// </summary>
/// <remarks>
/// <code>
/// Execute: commands ──► Close: Finish ──► HasRoom ───────────────────► Flush: Encode ──► Append ──► publish ──► answers
///            │ throws: undone alone       └─ no: Encode ──► MakeRoom ──┘           │ fails: fail-stop, outcome unknown
///                                                           │ disk full: all undone, run again
/// </code>
/// Encoding while the next batch runs takes a sixth of the work off the leader. The leader encodes only if the journal may
/// have to continue in another file. An unexpected error stops writing (<see cref="Stop"/>), and each caller gets an accurate
/// answer: a published batch is committed, the outcome of one that may have reached the journal is unknown, and nothing of
/// the others is kept.
/// Invariants. 1. A batch builds on the newest executed state: the published one, or that of the frame being flushed, whose
/// page numbers no reader knows yet. 2. Once its batch is closed, a page is copied, never changed: the frame being flushed
/// and the open batch share no page that either writes. The pages copied from do not change either: they stay in use until
/// <see cref="FinishPublished"/>. So a frame can be encoded while the next batch runs. 3. Pages that a batch frees stay in
/// use until a leader calls <see cref="FinishPublished"/> after its publication: the published state refers to them until
/// then, and if the flush fails, only newly made pages need to be discarded. 4. After a failure, first the open batch and
/// then the closed one is undone, so that free space and page table match the published state.
/// </remarks>
internal sealed class Writer(EnvironmentState state, JournalWriter? journal)
{
    /// <summary>
    /// Number of commands, and of pages, after which no further command joins a batch: bounds how long the first commands
    /// wait.
    /// </summary>
    private const int MaxCommands = 1024;
    private const int MaxPages = 2048;

    private readonly Queue<WriteRequest> _retries = new();
    private readonly PageLocator _locator = new();
    private readonly WriteTransaction _transaction = new();
    private MergedBatch? _batch;
    private MergedBatch? _otherBatch;
    private RequestList _answers;
    private MergedBatch? _open;
    private MergedBatch? _closed;
    private Snapshot? _closedState;
    private RequestList _closedAnswers;
    private WriteRequest? _running;
    private bool _isEncoded;
    private long _kept;
    private int _count;
    private bool _isCut;

    /// <summary>Whether anything was committed since opening.</summary>
    public bool HasCommitted { get; private set; }

    /// <summary>
    /// Whether commands found the disk full and wait to run a second time. A checkpoint before that frees journal files and
    /// pages.
    /// </summary>
    public bool HasRetries => _retries.Count > 0;

    /// <summary>Whether commands have run whose batch is not closed yet.</summary>
    public bool HasOpen => !_answers.IsEmpty;

    /// <summary>Whether a command is running.</summary>
    public bool IsRunning => _running is not null;

    /// <summary>Whether writing has stopped for good.</summary>
    public bool HasStopped => state.Failure is not null;

    /// <summary>Whether a further command may join the open batch.</summary>
    public bool CanTakeMore => !_isCut && _count < MaxCommands && (_open?.Pages.WrittenCount ?? 0) < MaxPages;

    /// <summary>Runs waiting commands, up to the limits of a batch.</summary>
    public void Execute(CommitQueue commits)
    {
        if (state.Failure is { } failure)
        {
            UndoOpen();
            while (TryNext(commits, out WriteRequest? request))
                Add(request!, null); // TryNext returned true
            AnswerAll(Stopped(failure));
            return;
        }

        while (!HasStopped && CanTakeMore && TryNext(commits, out WriteRequest? next))
        {
            Debug.Assert(_running is null, "one command runs at a time");
            WriteRequest request = _running = next!; // TryNext returned true
            try
            {
                Run(request, _open ??= Begin());
            }
            catch (Exception error)
            {
                Reject(request, error);
            }

            _running = null;
        }

        if (_answers.IsEmpty)
        {
            _open = null; // all its commands were undone, to run again
            _isCut = false;
        }
    }

    /// <summary>
    /// Closes the open batch; returns true if its frame must be flushed. Otherwise its commands are answered or queued to run
    /// again. Must be called while no frame is being flushed.
    /// </summary>
    public bool Close()
    {
        FinishPublished();
        if (state.Failure is { } failure)
        {
            UndoOpen();
            AnswerAll(Stopped(failure));
            return false;
        }

        MergedBatch? batch = _open;
        if (batch is null || !batch.HasChanges)
        {
            _open = null;
            AnswerAll(null);
            return false;
        }

        if (!TryBeginSession())
            return false;

        try
        {
            batch.Finish();
            _isEncoded = journal is null || !journal.HasRoom(MostPayloadBytes(batch));
            if (journal is not null && _isEncoded)
            {
                Encode(batch, state.Space.PageCount, journal.Buffer);
                journal.MakeRoom();
            }
        }
        catch (Exception error)
        {
            batch.Pages.Discard();
            _open = null;
            RejectAll(error);
            return false;
        }

        Debug.Assert(_closed is null && _closedAnswers.IsEmpty, "2: the batch before is published and everyone told");
        Debug.Assert(
            batch.Birth == state.Current.TransactionId + 1, "1: between flushes a batch builds on the published state");
        Debug.Assert(_kept > 0, "1: a batch with changes has a transaction");
        _closed = batch;
        _closedState = new Snapshot(batch.Birth + _kept - 1, batch.Catalogue, batch.NextTreeId, state.Space.PageCount)
        {
            System = batch.System,
            Named = batch.Named
        };
        _open = null;
        _closedAnswers = TakeAnswers();
        if (journal is not null)
            return true;

        Publish();
        RequestList answers = _closedAnswers.Take();
        try
        {
            FinishPublished();
        }
        catch (Exception error)
        {
            state.Failure ??= error; // the published batch is committed nevertheless
        }

        answers.Complete();
        return false;
    }

    /// <summary>
    /// Stops writing after an unexpected error, because the state in memory may be inconsistent. The running command is
    /// answered with the other waiting ones when the leader continues.
    /// </summary>
    public void Stop(Exception error)
    {
        state.Failure ??= error;
        if (_running is not { } running)
            return;

        _running = null;
        Add(running, null);
    }

    /// <summary>
    /// Writes, syncs and publishes the closed batch; returns the requests to answer. The caller need not be the leader; never
    /// throws.
    /// </summary>
    public RequestList Flush()
    {
        MergedBatch batch = _closed!; // Close returned true
        RequestList answers = _closedAnswers.Take();
        bool mayBeWritten = false;
        try
        {
            if (!_isEncoded)
                Encode(batch, _closedState!.PageCount, journal!.Buffer); // Close returned true
            state.Store.Scratch.ThrowIfNotWrittenOut(); // the commands may have read what the system dropped
            mayBeWritten = true;
            journal!.Append(batch.Birth, _closedState!.TransactionId);
            Publish();
        }
        catch (Exception error)
        {
            state.Failure = error;
            answers.Fail(mayBeWritten ? Unknown(error) : Stopped(error));
        }

        return answers;
    }

    /// <summary>
    /// Frees the pages replaced by the published batch, or those made by a failed one. Must be called while no frame is being
    /// flushed.
    /// </summary>
    public void FinishPublished()
    {
        if (_closed is not { } batch)
            return;

        if (!ReferenceEquals(state.Current, _closedState))
        {
            UndoOpen();
            _closed = null;
            Discard(batch);
            return;
        }

        Debug.Assert(batch != _open, "2: the open batch is another one than the closed one");
        _closed = null;
        foreach (PageWriter.FreedRun freed in batch.Pages.Freed)
            Free(freed, batch.Birth);
    }

    /// <summary>
    /// Returns a request waiting for the open batch or to run again, preferably one whose caller blocks, if it is among the
    /// first <paramref name="maxCandidates"/>; null if there is none.
    /// </summary>
    public WriteRequest? FindWaiter(int maxCandidates)
    {
        WriteRequest? request = _answers.First;
        for (int i = 0; request is { IsAsync: true } && i < maxCandidates; i++)
            request = request.Next;
        return request ?? _answers.First ?? (_retries.TryPeek(out WriteRequest? retry) ? retry : null);
    }

    /// <summary>The error for commands that are in no frame.</summary>
    private static WritingStoppedException Stopped(Exception failure) => new(
        $"Writing has stopped after an error: {failure.Message} This command did not run, or was undone: nothing of it was kept. "
        + "Reads still work. Close and open the environment again to recover what the disk has.",
        failure);

    /// <summary>The error for commands whose frame may or may not be on disk.</summary>
    private static CommitOutcomeUnknownException Unknown(Exception failure) => new(
        $"Writing has stopped because the journal could not be written: {failure.Message} Whether this command was kept is not "
        + $"known. "
        + "Reads still work. Close and open the environment again to recover what the disk has.",
        failure);

    private MergedBatch Begin()
    {
        state.Reclaim();
        _kept = 0;
        bool isFirstInUse = _closed is not null && _closed == _batch; // it is needed until FinishPublished
        MergedBatch batch = isFirstInUse ? _otherBatch ??= Make() : _batch ??= Make();
        Debug.Assert(batch != _closed, "2: the batch being flushed is not used for the next one");
        batch.Begin(_closed is null ? state.Current : _closedState!); // not null: set together with _closed
        return batch;
    }

    private MergedBatch Make() =>
        new(state.Store, state.Space, state.Current, _locator, state.Clock) { HashSeed = state.HashSeed };

    private void Run(WriteRequest request, MergedBatch batch)
    {
        WriteTransaction transaction = _transaction;
        transaction.Begin(batch, batch.Birth + _kept);
        batch.BeginCommand();
        try
        {
            request.Run(transaction);
            batch.Pages.EndCommand();
            transaction.Close(keep: true);
        }
        catch
        {
            Undo(transaction, batch);
            throw;
        }

        _kept++;
        _isCut = batch.Snapshots.EndsBatch;
        Add(request, null);
    }

    /// <summary>
    /// Undoes a command. Stops writing if that fails, because no other command may run on a half-undone state.
    /// </summary>
    private void Undo(WriteTransaction transaction, MergedBatch batch)
    {
        try
        {
            transaction.Close(keep: false);
            batch.UndoCommand();
        }
        catch (Exception error)
        {
            state.Failure ??= error;
            throw Stopped(error);
        }
    }

    private void Free(PageWriter.FreedRun freed, long transaction)
    {
        Debug.Assert(freed.Birth != transaction, "3: a batch gives back its own pages before it is published");
        if (freed.Freed == 0)
            state.Space.Free(freed.Run, freed.Birth, transaction);
        else
            state.Space.FreeUnpinned(freed.Run, freed.Birth, freed.Freed, transaction);
    }

    private bool TryBeginSession()
    {
        try
        {
            journal?.BeginSession();
            return true;
        }
        catch (Exception error) when (error is DiskFullException or OpenFileLimitException)
        {
            UndoOpen();
            RejectAll(error);
            return false;
        }
        catch (Exception error)
        {
            state.Failure = error;
            UndoOpen();
            AnswerAll(Stopped(error));
            return false;
        }
    }

    private void Publish()
    {
        Debug.Assert(_closedState!.TransactionId > state.Current.TransactionId, "1: published states ascend");
        state.Current = _closedState!; // there is a closed batch
        HasCommitted = true;
    }

    private void Add(WriteRequest request, Exception? error)
    {
        Debug.Assert(request is { IsStarted: true, IsDone: false }, "a command is told after it ran, and once");
        if (error is not null)
            request.Fail(error);
        _answers.Add(request);
        _count++;
    }

    private RequestList TakeAnswers()
    {
        _count = 0;
        _isCut = false;
        return _answers.Take();
    }

    private void AnswerAll(Exception? error)
    {
        RequestList answers = TakeAnswers();
        if (error is not null)
            answers.Fail(error);
        answers.Complete();
    }

    /// <summary>
    /// Handles an undone command: after a full disk it runs once more, any other error is reported with the batch.
    /// </summary>
    private void Reject(WriteRequest request, Exception error)
    {
        if (error is DiskFullException && !request.IsRetry)
        {
            request.PutBack();
            _retries.Enqueue(request);
            _isCut = true;
        }
        else
        {
            Add(request, error);
        }
    }

    private void RejectAll(Exception error)
    {
        for (WriteRequest? request = TakeAnswers().First; request is not null;)
        {
            WriteRequest? next = request.Next;
            if (request.Error is null)
                Reject(request, error);
            else
                Add(request, request.Error);
            request = next;
        }

        AnswerAll(null);
    }

    private void UndoOpen()
    {
        MergedBatch? open = _open;
        _open = null;
        if (open is not null)
            Discard(open);
    }

    /// <summary>
    /// Discards the pages of a batch. If that fails, writing stops, so the state of its pages no longer matters.
    /// </summary>
    private void Discard(MergedBatch batch)
    {
        try
        {
            batch.Pages.Discard();
        }
        catch (Exception error)
        {
            state.Failure ??= error;
        }
    }

    private bool TryNext(CommitQueue commits, out WriteRequest? request)
    {
        while (_retries.TryDequeue(out request))
            if (request.TryStart())
                return true;
        return commits.TryNext(out request);
    }

    /// <summary>Upper bound for the payload of the batch's frame, from the recorded changes of its pages.</summary>
    private long MostPayloadBytes(MergedBatch batch)
    {
        long bytes = JournalPayload.HeadBytes + ((long)batch.Pages.Freed.Count * JournalPayload.FreedRunBytes);
        foreach (PageWriter.WrittenPage written in batch.Pages.Written)
        {
            if (written.Number >= 0)
                bytes += JournalPayload.MostPageBytes(
                    state.Store.Scratch.Record(state.Store.FrameOf(written.Number)).Changed, written.Pages);
        }

        return bytes;
    }

    /// <summary>
    /// Encodes the frame of a closed batch. Called by the leader, or while the next batch runs: it reads only what nobody
    /// changes (invariant 2).
    /// </summary>
    private void Encode(MergedBatch batch, long pageCount, FrameBuffer buffer)
    {
        buffer.Clear();
        Span<byte> head = buffer.Room(JournalPayload.HeadBytes + ((long)batch.Pages.Freed.Count * JournalPayload.FreedRunBytes));
        JournalPayload.WriteHead(head, batch.Catalogue, batch.System, batch.NextTreeId, pageCount, batch.Pages.Freed.Count);
        for (int i = 0; i < batch.Pages.Freed.Count; i++)
            JournalPayload.WriteFreed(head, i, batch.Pages.Freed[i].Run);

        buffer.Advance(head.Length);
        int pages = 0;
        foreach (PageWriter.WrittenPage written in batch.Pages.Written)
        {
            if (written.Number < 0)
                continue;

            EncodePage(written, buffer);
            pages++;
        }

        buffer.WriteInt32At(FrameHeader.SizeBytes + JournalPayload.ChangedPagesOffset, pages);
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
        LineSet changed = store.Scratch.Record(store.FrameOf(written.Number)).Changed;
        Debug.Assert(
            written.From == 0 || changed.CoversDifferences(bytes, original),
            "4 of PageWriter: what differs from the page it was copied from is noted");
        Span<byte> room = buffer.Room(JournalPayload.MaxPageBytes);
        int lengthBytes = JournalPayload.WritePage(room, written.Number, written.From, bytes, original, changed);
        Debug.Assert(Makes(room, original, bytes), "what is written of a page makes it again from what it was copied from");
        buffer.Advance(lengthBytes);
    }

    /// <summary>Whether applying a page's part of a frame to the original yields the page; used by asserts.</summary>
    private static bool Makes(ReadOnlySpan<byte> written, ReadOnlySpan<byte> original, ReadOnlySpan<byte> page)
    {
        Span<byte> made = stackalloc byte[PageLayout.SizeBytes];
        made.Clear();
        original.CopyTo(made);
        _ = JournalPayload.Apply(written, made);
        // Skips the first line: it contains the checksum, which a checkpoint may be setting.
        return default(LineSet).CoversDifferences(made[LineSet.LineBytes..], page[LineSet.LineBytes..]);
    }
}
