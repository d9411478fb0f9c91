namespace Treepie.CommandLine.Queries;

/// <summary>Who answers queries: a server, or the files of one that is stopped.</summary>
internal interface IQuerySource
{
    /// <summary>The answer as a server writes it: an object with <c>Results</c>. To be disposed.</summary>
    Task<Stream> AnswerAsync(QueryText query, CancellationToken cancellationToken);

    /// <summary>The answer as lines, as a server streams it: see <see cref="Http.StreamedAnswer"/>. To be disposed.</summary>
    Task<Stream> LinesAsync(QueryText query, CancellationToken cancellationToken);
}
