using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>The part of a database that sessions use.</summary>
internal interface ISessionHost : IWriteHost
{
    IndexCatalogue Indexes { get; }

    /// <summary>Returns the shared type information of sessions with the specified options.</summary>
    EntityTypes EntityTypesOf(SessionOptions options);

    /// <summary>Generates ids for entities without one.</summary>
    HiLoIds HiLoIds { get; }

    /// <inheritdoc cref="Database.WriteAsync(WriteBatch, CancellationToken)"/>
    Task<IReadOnlyList<WriteResult>> WriteAsync(WriteBatch batch, CancellationToken cancellationToken = default);

    /// <inheritdoc cref="Database.QueryAsync"/>
    Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken = default);
}
