namespace Treepie.Storage.Backups;

/// <summary>What an increment or a log goes on from.</summary>
/// <param name="StoreId">The store.</param>
/// <param name="Commit">The last commit that is backed up.</param>
/// <param name="Hash">Hash of the snapshot or increment that was taken last, in hexadecimal.</param>
public sealed record EnvironmentBackupLink(Guid StoreId, long Commit, string Hash);
