using System.Diagnostics;
using System.Security.Cryptography;
using Treepie.Storage.Format;

namespace Treepie.Storage.Backups;

/// <summary>
/// Replays the commits of a log, in order, on the restored state. Without a target, only verifies that they are consecutive
/// and valid. Memory: the largest commit.
/// </summary>
internal sealed class LogReplay(RestoredState state, EnvironmentRestore? target, PageBits? inUse) : IDisposable
{
    private const int FirstPayloadBytes = 1 << 16;

    private readonly byte[] _page = new byte[PageLayout.SizeBytes];
    private byte[] _payload = [];
    private byte[] _run = [];
    private LogRecord _pending;
    private int _filled;

    /// <summary>The state reached.</summary>
    public RestoredState State { get; private set; } = state;

    /// <summary>The number of commits (merged batches) replayed.</summary>
    public long Commits { get; private set; }

    /// <summary>The last commit to replay.</summary>
    public long StopAtCommit { get; init; } = long.MaxValue;

    /// <summary>Commits later than this, in milliseconds since 1970-01-01 UTC, are not replayed.</summary>
    public long StopAtMs { get; init; } = long.MaxValue;

    /// <summary>Whether the stopping point was passed.</summary>
    public bool IsOver { get; private set; }

    /// <summary>Adds a piece of a commit and replays the commit once complete.</summary>
    public void Take(BackupPartReader part)
    {
        if (IsOver)
            return;
        if (LogRecord.TryRead(part.Content) is not { } record)
            throw part.Inconsistent("a record of a commit is invalid");

        ReadOnlySpan<byte> piece = part.Content[LogRecord.HeadBytes..];
        if (record.Offset != _filled || (_filled > 0 && record with { Offset = 0 } != _pending))
            throw part.Inconsistent($"a piece of commit {record.Last} is out of place");
        _pending = record with { Offset = 0 };
        if (_payload.Length < _filled + piece.Length)
            Array.Resize(
                ref _payload,
                (int)Math.Min(
                    Math.Max(Math.Max(_filled + (long)piece.Length, 2L * _payload.Length), FirstPayloadBytes), Array.MaxLength));
        piece.CopyTo(_payload.AsSpan(_filled));
        _filled += piece.Length;
        if (_filled < record.PayloadBytes)
            return;

        _filled = 0;
        Commit(record, _payload.AsSpan(0, record.PayloadBytes), part);
    }

    /// <summary>Called at the end of a part. Verifies that no commit is incomplete.</summary>
    public void End(BackupPartReader part)
    {
        if (_filled > 0)
            throw part.Inconsistent($"it ends within commit {_pending.Last}");
    }

    public void Dispose()
    {
        CryptographicOperations.ZeroMemory(_page);
        CryptographicOperations.ZeroMemory(_payload);
        CryptographicOperations.ZeroMemory(_run);
    }

    private void Commit(LogRecord record, ReadOnlySpan<byte> payload, BackupPartReader part)
    {
        if (record.Last <= State.Commit)
            return; // the snapshot includes it
        if (record.First != State.Commit + 1)
            throw new BackupPartException(
                BackupPartFault.LinkMissing,
                $"'{part.Name}' continues with transaction {record.First} after {State.Commit}: those between are missing. Give "
                    + $"the log that has them, or stop before.");
        if (record.Last > StopAtCommit || record.TimeMs > StopAtMs)
        {
            IsOver = true;
            return;
        }

        if (JournalPayload.FindFault(payload) is { } fault)
            throw part.Inconsistent(
                $"the commit of the transactions {record.First} to {record.Last} cannot be replayed: {fault}");
        Apply(record, payload, part);
        Commits++;
    }

    private void Apply(LogRecord record, ReadOnlySpan<byte> payload, BackupPartReader part)
    {
        Debug.Assert(record.First == State.Commit + 1, "commits follow each other");
        var content = new JournalContent(payload);
        long pageCount = Math.Max(State.PageCount, content.PageCount);
        if (target is not null && inUse is not null)
        {
            target.Grow(pageCount);
            ReadOnlySpan<byte> rest = content.FirstChanged;
            for (int i = 0; i < content.ChangedPages; i++)
                rest = rest[ApplyPage(record.First, rest, part)..];
            for (int i = 0; i < content.FreedRuns; i++)
                inUse.Remove(content.Freed(i));
        }

        State = new RestoredState(record.Last, record.TimeMs, content.Catalogue, content.System, content.NextTreeId, pageCount);
    }

    private int ApplyPage(long birth, ReadOnlySpan<byte> source, BackupPartReader part)
    {
        Debug.Assert(target is not null && inUse is not null, "pages are made only where there is a target");
        var changed = new ChangedPage(source);
        PageRun run = changed.Run;
        Span<byte> unit = run.Pages == 1 ? _page : Run(run.Pages);
        unit.Clear();
        // Not null: Apply checked the target.
        if (changed.From != 0 && (!target!.TryRead(changed.From, unit) || new Page(unit).Birth != changed.FromBirth))
            throw part.Inconsistent($"transaction {birth} copies page {changed.From}, which the parts before it have otherwise");

        int length = JournalPayload.Apply(source, unit);
        var page = new Page(unit);
        page.Tag = 0;
        page.Incarnation = 0;
        if (changed.FindFault(unit, birth) is { } fault)
            throw part.Inconsistent($"transaction {birth} leaves page {run.First} invalid: {fault}");

        page.Checksum = Page.ComputeChecksum(
            page.Type == PageType.Overflow ? unit[..(PageLayout.HeaderBytes + page.ValueLength)] : unit);
        target!.Write(run.First, unit);
        inUse!.Add(run);
        return length;
    }

    private Span<byte> Run(int pages)
    {
        int length = checked(pages * PageLayout.SizeBytes);
        if (_run.Length < length)
            _run = new byte[length];
        return _run.AsSpan(0, length);
    }
}
