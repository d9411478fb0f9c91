using System.Buffers;
using System.IO.Pipelines;
using System.Text.Json;
using Treepie.CommandLine.Queries;
using Treepie.Queries;
using Treepie.Store;

namespace Treepie.CommandLine.Offline;

/// <summary>Runs queries on the files of a stopped server in this process.</summary>
internal sealed class DirectoryQueries(Database database) : IQuerySource, IDisposable
{
    /// <summary>Opens a database in a directory. No other process may have it open.</summary>
    /// <exception cref="UsageException">The database does not exist, or there are several and none is named.</exception>
    public static DirectoryQueries Open(
        DataDirectory directory, DirectoryKeys keys, string? name, CancellationToken cancellationToken)
    {
        string documents = name is null
            ? directory.MainEnvironment()
            : directory.Environments.FirstOrDefault(environment => !DataDirectory.IsIndex(environment)
                && string.Equals(Path.GetFileName(Path.GetDirectoryName(environment)), name, StringComparison.OrdinalIgnoreCase))
                ?? throw new UsageException($"There is no database '{name}' in '{directory.Path}'.");
        string folder = Path.GetDirectoryName(documents) ?? documents;
        return new DirectoryQueries(
            Database.Open(folder, new DatabaseOptions { EncryptionKey = keys.Of(documents, cancellationToken) }));
    }

    /// <inheritdoc/>
    public async Task<Stream> AnswerAsync(QueryText query, CancellationToken cancellationToken)
    {
        long began = TimeProvider.System.GetTimestamp();
        using JsonDocument parameters = Parameters(query);
        using QueryResults results = await database.QueryAsync(Request(query, parameters), cancellationToken);
        var output = new ArrayBufferWriter<byte>();
        output.Write("{\"Results\":["u8);
        for (bool isFirst = true; results.MoveNext(); isFirst = false)
        {
            cancellationToken.ThrowIfCancellationRequested();
            output.Write(isFirst ? ""u8 : ","u8);
            results.WriteCurrent(output);
        }

        output.Write("],"u8);
        output.Write(Statistics(results, began).AsSpan(1)); // without its opening brace
        return new MemoryStream(output.WrittenSpan.ToArray());
    }

    /// <inheritdoc/>
    public async Task<Stream> LinesAsync(QueryText query, CancellationToken cancellationToken)
    {
        long began = TimeProvider.System.GetTimestamp();
        JsonDocument parameters = Parameters(query);
        QueryResults results = await database.QueryAsync(Request(query, parameters), cancellationToken);
        var pipe = new Pipe();
        _ = Task.Run(
            async () =>
            {
                Exception? failure = null;
                try
                {
                    await WriteLinesAsync(pipe.Writer, results, began, cancellationToken);
                }
                catch (Exception error)
                {
                    failure = error; // rethrown to the reader of the pipe
                }
                finally
                {
                    results.Dispose();
                    parameters.Dispose();
                    await pipe.Writer.CompleteAsync(failure);
                }
            },
            CancellationToken.None);
        return pipe.Reader.AsStream();
    }

    /// <inheritdoc/>
    public Task<QueryNames> NamesAsync(CancellationToken cancellationToken)
    {
        using DatabaseSnapshot snapshot = database.BeginRead();
        return Task.FromResult(new QueryNames(
            [.. snapshot.Collections().Select(collection => collection.Name)],
            [.. database.Indexes.List().Select(index => index.Name)]));
    }

    /// <inheritdoc/>
    public void Dispose() => database.Dispose();

    private static async Task WriteLinesAsync(
        PipeWriter writer, QueryResults results, long began, CancellationToken cancellationToken)
    {
        while (results.MoveNext())
        {
            writer.Write("{\"Item\":"u8);
            results.WriteCurrent(writer);
            writer.Write("}\n"u8);
            if ((await writer.FlushAsync(cancellationToken)).IsCompleted)
                return; // the reader has closed the pipe
        }

        writer.Write("{\"Stats\":"u8);
        writer.Write(Statistics(results, began));
        writer.Write("}\n"u8);
    }

    private static byte[] Statistics(QueryResults results, long began) => Http.ServerClient.Json(writer =>
    {
        writer.WriteNumber("TotalResults", results.TotalResults);
        writer.WriteString("IndexName", results.IndexName);
        writer.WriteBoolean("IsStale", results.IsStale);
        writer.WriteNumber("DurationInMs", (long)TimeProvider.System.GetElapsedTime(began).TotalMilliseconds);
    });

    private static JsonDocument Parameters(QueryText query) => JsonDocument.Parse(query.Parameters ?? "{}");

    /// <summary>
    /// Always waits for the index: nothing is written meanwhile, so the query can see all documents.
    /// </summary>
    private static QueryRequest Request(QueryText query, JsonDocument parameters) => new()
    {
        Text = query.Rql,
        Parameters = parameters.RootElement,
        WaitForNonStaleResults = true,
        WaitTimeout = TimeSpan.FromSeconds(query.WaitSeconds ?? DefaultWaitSeconds),
    };

    /// <summary>Default time in seconds that an index has to catch up with the last writes.</summary>
    private const int DefaultWaitSeconds = 60;
}
