namespace Treepie.Storage.Backups;

/// <summary>One part of a chain.</summary>
/// <param name="Name">The name used in messages.</param>
/// <param name="OpenAsync">Opens the part at its start, decrypted and decompressed; called twice if there are several parts. The
/// caller disposes the stream.</param>
public sealed record BackupChainPart(string Name, Func<CancellationToken, ValueTask<Stream>> OpenAsync);
