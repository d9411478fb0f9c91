namespace Treepie.Storage.Backups;

/// <summary>The position from which an increment or a log backup continues.</summary>
/// <param name="StoreId">The id of the store.</param>
/// <param name="Commit">The last commit that is backed up.</param>
/// <param name="Hash">The hash of the last snapshot or increment, in hexadecimal.</param>
public sealed record EnvironmentBackupLink(Guid StoreId, long Commit, string Hash);
