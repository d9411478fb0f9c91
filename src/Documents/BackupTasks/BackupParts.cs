using Treepie.Backups;

namespace Treepie.BackupTasks;

/// <summary>Reads backups of one part or several.</summary>
internal static class BackupParts
{
    /// <summary>Verifies the backups by reading them in full.</summary>
    public static async Task<BackupReport> VerifyAsync(
        IReadOnlyList<BackupPart> parts, RestoreOptions options, IProgress<BackupProgress>? progress,
        CancellationToken cancellationToken)
    {
        if (parts.Count > 1)
            return await Database.VerifyBackupAsync(parts, options, progress, cancellationToken).ConfigureAwait(false);

        Stream source = await parts[0].OpenAsync(cancellationToken).ConfigureAwait(false);
        await using (source.ConfigureAwait(false))
            return await Database.VerifyBackupAsync(source, options, progress, cancellationToken).ConfigureAwait(false);
    }
}
