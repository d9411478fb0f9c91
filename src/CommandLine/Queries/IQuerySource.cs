namespace Treepie.CommandLine.Queries;

/// <summary>Executes queries, on a server or on the files of a stopped one.</summary>
internal interface IQuerySource
{
    /// <summary>Returns the response of a query as a server writes it, an object with <c>Results</c>. The caller disposes
    /// it.</summary>
    Task<Stream> AnswerAsync(QueryText query, CancellationToken cancellationToken);

    /// <summary>
    /// Returns the response of a query as a server streams it (<see cref="Http.StreamedAnswer"/>). The caller disposes it.
    /// </summary>
    Task<Stream> LinesAsync(QueryText query, CancellationToken cancellationToken);

    /// <summary>Returns the names of the collections and indexes.</summary>
    Task<QueryNames> NamesAsync(CancellationToken cancellationToken);
}
