using Treepie.Storage.Encryption;
using Treepie.Storage.Files;
using Treepie.Storage.Format;
using Treepie.Storage.Journal;
using Treepie.Storage.Transactions;

namespace Treepie.Storage.Checks;

/// <summary>
/// Reads the frames after the last checkpoint from the files again and checks each hash, the chain across frames and uses,
/// and that no acknowledged frame is missing at the end. Commits continue meanwhile. If a checkpoint removes files during the
/// check, it starts again from the new checkpoint.
/// </summary>
internal sealed class JournalCheck(
    IFileSystem files, Guid storeId, StoreCipher? cipher, EnvironmentState state, CheckContext context)
{
    private const int MaxTries = 5;

    private string Pattern => Path.Combine(files.Path, FormatLimits.JournalPrefix + "*" + FormatLimits.JournalSuffix);

    public void Run()
    {
        for (int attempt = 1; ; attempt++)
        {
            MetaPage meta = state.Durable;
            long published = state.Current.TransactionId;
            string? fault = FindFault(meta, out long frames, out long last, out string? warning);
            if (fault is null && last < published && frames > 0)
                fault = $"Its frames end with transaction {last}, but {published} is published.";

            // Faults after the transaction that was published before the files were listed are ignored: commits are in
            // progress there and may use journal files that are not in the list.
            if (fault is null || last >= published)
            {
                if (warning is not null)
                    context.Report(warning, file: Pattern);
                context.JournalFrames = frames;
                return;
            }

            if (ReferenceEquals(meta, state.Durable) || attempt == MaxTries)
            {
                context.Report(fault, file: Pattern);
                return;
            }
        }
    }

    private string? FindFault(MetaPage meta, out long frames, out long last, out string? warning)
    {
        long count = 0, newest = meta.LastTransaction;
        warning = null;
        using var journal = new JournalFiles(files);
        try
        {
            var reader = new JournalReader(files, journal.OpenAll(storeId, writable: false), cipher);
            reader.Read(meta.Journal, meta.LastTransaction, meta.IsClean, (header, payload) =>
            {
                context.Cancellation.ThrowIfCancellationRequested();
                if (JournalPayload.FindFault(payload) is { } fault)
                    throw context.Store.CorruptFrame(header.Frame, header.FirstTransaction, fault);
                count++;
                newest = header.LastTransaction;
            });
            warning = reader.Warning;
            return null;
        }
        catch (Exception error) when (error is StorageException or IOException)
        {
            return error.Message;
        }
        finally
        {
            frames = count;
            last = newest;
        }
    }
}
