using Treepie.Indexes;
using Treepie.Queries;
using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>What sessions use of a database.</summary>
internal interface ISessionHost : IWriteHost
{
    IndexCatalogue Indexes { get; }

    /// <summary>What sessions of these options know of types.</summary>
    EntityTypes EntityTypesOf(SessionOptions options);

    /// <summary>Ids for objects that have none.</summary>
    HiLoIds HiLoIds { get; }

    /// <inheritdoc cref="Database.WriteAsync(WriteBatch, CancellationToken)"/>
    Task<IReadOnlyList<WriteResult>> WriteAsync(WriteBatch batch, CancellationToken cancellationToken = default);

    /// <inheritdoc cref="Database.QueryAsync"/>
    Task<QueryResults> QueryAsync(QueryRequest request, CancellationToken cancellationToken = default);
}
