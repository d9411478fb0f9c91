using Treepie.Storage.Format;

namespace Treepie.Storage.Transactions;

/// <summary>A published state: all a reader needs to know. Never changes.</summary>
internal sealed record Snapshot(long TransactionId, TreeRecord Catalogue, uint NextTreeId, long PageCount);
