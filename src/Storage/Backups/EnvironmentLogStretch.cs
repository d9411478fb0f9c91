using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Backups;

/// <summary>
/// The commits of an environment between an archived one and the current one, to be written to a part. After archiving them, call
/// <see cref="EnvironmentLog.ReleaseLog"/>, so that journal files with no later commits are reused. Writers never wait for it.
/// </summary>
public sealed class EnvironmentLogStretch : IDisposable
{
    private readonly StorageEnvironment _environment;
    private readonly KeptFrames _frames;
    private readonly long _commitMs;

    private EnvironmentLogStretch(StorageEnvironment environment, long after, ReadTransaction read, long commitMs)
    {
        _environment = environment;
        After = after;
        Read = read;
        Commit = read.TransactionId;
        _commitMs = commitMs;
        _frames = new KeptFrames(environment.World.Files, environment.StoreId, environment.Cipher);
    }

    /// <summary>The last commit that is already archived.</summary>
    public long After { get; }

    /// <summary>The last commit in this part of the log; equal to <see cref="After"/> if there is none.</summary>
    public long Commit { get; }

    /// <summary>
    /// A read transaction on the state after the last commit. Ends with this object at the latest; dispose it earlier if it is no
    /// longer needed, since it holds pages that writers could reuse.
    /// </summary>
    public ReadTransaction Read { get; }

    /// <summary>When the last commit was made; null if unknown.</summary>
    public DateTimeOffset? CommittedAt => _commitMs == 0 ? null : DateTimeOffset.FromUnixTimeMilliseconds(_commitMs);

    /// <summary>Holds the commits after the specified one, if all of them are kept.</summary>
    /// <param name="environment">An environment that keeps its log (<see cref="EnvironmentLog.KeepLog"/>).</param>
    /// <param name="after">The last commit that is archived.</param>
    /// <exception cref="BackupPartException"><see cref="BackupPartFault.LogGap"/>: some commits are not kept, or no longer; an
    /// increment closes the gap, and the log continues from its commit. <see cref="BackupPartFault.Foreign"/>: the commit does
    /// not belong to this environment.</exception>
    public static EnvironmentLogStretch Begin(StorageEnvironment environment, long after)
    {
        ArgumentNullException.ThrowIfNull(environment);
        EnvironmentState state = environment.State;
        if (!environment.JournalFiles.IsLogKept || environment.Journal is null)
            throw new BackupPartException(
                BackupPartFault.LogGap,
                $"The log of '{state.Store.Path}' is not kept: its commits cannot be archived one by one. Enable keeping it, "
                    + $"take a snapshot or an increment, and continue from its commit.");

        ReadTransaction? read = null;
        long commitMs = 0;
        environment.Commits.RunExclusive(
            () => (read, commitMs) = (environment.BeginRead("backup of the log"), environment.Journal.LastTimeMs));
        var stretch = new EnvironmentLogStretch(environment, after, read!, commitMs); // RunExclusive has run the action
        try
        {
            if (after > stretch.Commit)
                throw new BackupPartException(
                    BackupPartFault.Foreign,
                    $"A log up to commit {after} cannot be continued: '{state.Store.Path}' is at commit {stretch.Commit}. It "
                        + $"was put back to an earlier state; begin with a snapshot.");
            stretch.CheckBegin();
            return stretch;
        }
        catch
        {
            stretch.Dispose();
            throw;
        }
    }

    /// <summary>Writes the commits.</summary>
    /// <returns>The number of commits (merged batches).</returns>
    /// <exception cref="BackupPartException"><see cref="BackupPartFault.LogGap"/>: a file was reused meanwhile, because the
    /// budget was exceeded.</exception>
    public async Task<long> WriteAsync(
        BackupPartWriter writer, IProgress<BackupPartProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(writer);
        long commits = 0, reached = After;
        foreach (FrameHeader frame in _frames.From(After + 1, Commit))
        {
            for (int offset = 0; offset < frame.PayloadBytes || offset == 0;)
            {
                int length = Fill(writer, frame, offset);
                await writer.WriteAsync(PartFrameKind.Commit, LogRecord.HeadBytes + length, cancellationToken)
                    .ConfigureAwait(false);
                offset += Math.Max(length, 1);
            }

            commits++;
            reached = frame.LastTransaction;
            progress?.Report(new BackupPartProgress("", reached, Commit));
        }

        return reached == Commit ? commits : throw Gap(reached);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Read.Dispose();
        _frames.Dispose();
    }

    private void CheckBegin()
    {
        if (After == Commit)
            return;

        using IEnumerator<FrameHeader> frames = _frames.From(After + 1, Commit).GetEnumerator();
        if (!frames.MoveNext())
            throw Gap(After);
    }

    private int Fill(BackupPartWriter writer, in FrameHeader frame, int offset)
    {
        Debug.Assert(_frames.Payload.Length == frame.PayloadBytes, "the payload is that of the frame");
        Debug.Assert(offset >= 0 && offset <= frame.PayloadBytes, "a piece begins within the payload");
        int length = Math.Min(frame.PayloadBytes - offset, PartFormat.MaxContentBytes - LogRecord.HeadBytes);
        new LogRecord(frame.FirstTransaction, frame.LastTransaction, frame.TimeMs, frame.PayloadBytes, offset).Write(
            writer.Content);
        _frames.Payload.Span.Slice(offset, length).CopyTo(writer.Content[LogRecord.HeadBytes..]);
        return length;
    }

    private BackupPartException Gap(long reached) => new(
        BackupPartFault.LogGap,
        $"The log of '{_environment.State.Store.Path}' cannot be continued from commit {reached}: later commits are no longer "
            + $"kept, because too many waited, the key was changed, or the log was not kept then. Take an increment, which "
            + $"closes the gap, and continue from its commit.");
}
