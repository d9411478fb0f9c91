namespace Treepie.Server.Databases;

/// <summary>Changes a part of a database record and keeps what others change of it meanwhile.</summary>
internal static class RecordChange
{
    /// <summary>How often a change is tried: each failure means that another change succeeded.</summary>
    private const int MaxAttempts = 100;

    /// <summary>
    /// Replaces the record of a database by a changed one; durable on completion. The change is computed again if the record has
    /// changed since it was read.
    /// </summary>
    /// <exception cref="ConcurrencyException">Others changed the record at each attempt; nothing was changed.</exception>
    public static async Task ChangeRecordAsync(
        this Database database, Func<DatabaseRecord, DatabaseRecord> change, CancellationToken cancellationToken)
    {
        for (int attempt = 1; ; attempt++)
        {
            DatabaseRecord record = database.GetRecord();
            try
            {
                await database.SetRecordAsync(change(record), record.Etag, cancellationToken).ConfigureAwait(false);
                return;
            }
            catch (ConcurrencyException) when (attempt < MaxAttempts)
            {
                // Another change was faster.
            }
        }
    }
}
