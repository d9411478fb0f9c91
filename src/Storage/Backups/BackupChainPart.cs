namespace Treepie.Storage.Backups;

/// <summary>One part of a chain.</summary>
/// <param name="Name">What messages call it.</param>
/// <param name="OpenAsync">Opens it from its beginning, not sealed and not compressed; called twice where there are several. Who
/// opens it closes it.</param>
public sealed record BackupChainPart(string Name, Func<CancellationToken, ValueTask<Stream>> OpenAsync);
