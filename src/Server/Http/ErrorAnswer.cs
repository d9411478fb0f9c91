using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Encryption;
using Treepie.Kinds;

namespace Treepie.Server.Http;

/// <summary>
/// An exception as reported to clients: status, name in the protocol, and message. Details of unexpected exceptions are only
/// logged.
/// </summary>
internal sealed record ErrorAnswer(int StatusCode, string WireType, string Message)
{
    /// <summary>The maximum length of a message: text quoted from a request may have megabytes, and is sent twice.</summary>
    private const int MostCharacters = 4_096;

    /// <summary>The value of Retry-After if files or disk space were lacking.</summary>
    private const int TransientRetrySeconds = 10;

    /// <summary>The Unix errors for too many open files: in the system (ENFILE), and in the process (EMFILE).</summary>
    private const int MachineFileLimit = 23, ProcessFileLimit = 24;

    /// <summary>The message; a long one is reduced to its start and its end, which contains the location.</summary>
    public string Message { get; } = Message.Length <= MostCharacters
        ? Message
        : $"{Message[..(MostCharacters / 2)]}…{Message[^((MostCharacters / 2) - 1)..]}";

    /// <summary>Whether it is a failure of the server itself, which is logged.</summary>
    public bool IsUnexpected { get; private init; }

    private string? MissingDatabase { get; init; }

    private int? RetryAfterSeconds { get; init; }

    private (int Line, int Column) Place { get; init; }

    private IReadOnlyList<ClusterConflict> Conflicts { get; init; } = [];

    private string? DefinitionProperty { get; init; }

    /// <summary>Creates the error of a failed operation, which has no request.</summary>
    public static ErrorAnswer ForOperation(Exception exception) => For(exception, null);

    public static ErrorAnswer For(Exception exception, ServerRequest? request) => exception switch
    {
        WireException wire => new(wire.StatusCode, wire.WireType, wire.Message)
        {
            MissingDatabase = wire.MissingDatabase,
            RetryAfterSeconds = wire.RetryAfterSeconds
        },
        ConcurrencyException => new(StatusCodes.Status409Conflict, WireTypes.Concurrency, exception.Message),
        ClusterTransactionConcurrencyException cluster => new(
            StatusCodes.Status409Conflict, WireTypes.ClusterTransactionConcurrency,
            cluster.Message)
        { Conflicts = cluster.Conflicts },
        DocumentNotFoundException => new(StatusCodes.Status400BadRequest, WireTypes.DocumentDoesNotExist, exception.Message),
        AttachmentNotFoundException => new(StatusCodes.Status400BadRequest, WireTypes.AttachmentDoesNotExist, exception.Message),
        CounterOverflowException => new(StatusCodes.Status400BadRequest, WireTypes.CounterOverflow, exception.Message),
        ScriptException script => new(
            StatusCodes.Status400BadRequest, script.IsSyntax ? WireTypes.ScriptSyntax : WireTypes.Script,
            script.Message)
        { Place = (script.Line, script.Column) },
        InvalidQueryException query =>
            new(StatusCodes.Status400BadRequest, WireTypes.InvalidQuery, query.Message) { Place = (query.Line, query.Column) },
        DestinationException or BackupTaskException or BackupException or KeySourceException =>
            new(StatusCodes.Status400BadRequest, WireTypes.BadRequest, ServerPaths.Hide(exception.Message)),
        InvalidDocumentException => new(StatusCodes.Status400BadRequest, WireTypes.BadRequest, exception.Message),
        InvalidAnalyzerException => new(StatusCodes.Status400BadRequest, WireTypes.AnalyzerCompilation, exception.Message),
        InvalidSorterException => new(StatusCodes.Status400BadRequest, WireTypes.SorterCompilation, exception.Message),
        InvalidIndexDefinitionException definition => new(
            StatusCodes.Status400BadRequest, WireTypes.IndexCompilation,
            definition.Message)
        { DefinitionProperty = definition.Property },
        IndexNotFoundException => new(StatusCodes.Status500InternalServerError, WireTypes.IndexDoesNotExist, exception.Message),
        DatabaseLockedException or AmbiguousDatabaseException =>
            new(StatusCodes.Status503ServiceUnavailable, WireTypes.DatabaseLoadFailure, ServerPaths.Hide(exception.Message)),
        JsonException json => new(
            StatusCodes.Status400BadRequest, WireTypes.BadRequest,
            $"The request body is not valid JSON: {WireJson.Explain(json)}"),
        BadHttpRequestException bad => new(bad.StatusCode, WireTypes.BadRequest, bad.Message),
        InvalidOperationException { InnerException: DecoderFallbackException } => new(
            StatusCodes.Status400BadRequest, WireTypes.BadRequest, "The request body is not valid UTF-8."),
        TimeoutException => new(StatusCodes.Status408RequestTimeout, WireTypes.Timeout, exception.Message),
        OperationCanceledException => ForCancelled(request),
        TreepieException { IsTransient: true } => new(
            StatusCodes.Status503ServiceUnavailable, WireTypes.Raven,
            ServerPaths.Hide(exception.Message))
        { RetryAfterSeconds = TransientRetrySeconds, IsUnexpected = true },
        IOException { HResult: MachineFileLimit or ProcessFileLimit } when !OperatingSystem.IsWindows() => new(
            StatusCodes.Status503ServiceUnavailable, WireTypes.Raven,
            "The server has as many files open as the system lets it. Try again later, or raise its limit (ulimit -n).")
        { RetryAfterSeconds = TransientRetrySeconds, IsUnexpected = true },
        OutOfMemoryException => new(
            StatusCodes.Status503ServiceUnavailable, WireTypes.Raven,
            "The server has not enough memory for this request beside the others. Try again later, ask for less at once, or give "
                + "it more memory.")
        { RetryAfterSeconds = TransientRetrySeconds, IsUnexpected = true },
        _ when IsOurs(exception) => new(
            StatusCodes.Status500InternalServerError, WireTypes.Raven,
            ServerPaths.Hide(exception.Message))
        { IsUnexpected = true },
        _ => new(StatusCodes.Status500InternalServerError, WireTypes.Raven, Unexpected(request)) { IsUnexpected = true },
    };

    public Task WriteAsync(ServerRequest request)
    {
        if (MissingDatabase is not null)
            request.SetHeader("Database-Missing", Uri.EscapeDataString(MissingDatabase));

        if (RetryAfterSeconds is { } seconds)
            request.SetHeader("Retry-After", seconds.ToString(CultureInfo.InvariantCulture));

        return request.JsonAsync(
            (Answer: this, request.Url), static (json, state) => state.Answer.WriteBody(json, state.Url), StatusCode);
    }

    /// <summary>Writes the result of a failed operation.</summary>
    public void WriteResult(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteString("$type", "Raven.Client.Documents.Operations.OperationExceptionResult, Raven.Client");
        json.WriteString("Type", WireType);
        json.WriteString("Message", Message);
        json.WriteString("Error", ErrorText);
        json.WriteNumber("StatusCode", StatusCode);
        json.WriteEndObject();
    }

    public void WriteBody(Utf8JsonWriter json, string url)
    {
        json.WriteStartObject();
        json.WriteString("Url", url);
        json.WriteString("Type", WireType);
        json.WriteString("Message", Message);
        json.WriteString("Error", ErrorText);
        if (DefinitionProperty is not null)
            json.WriteString("IndexDefinitionProperty", DefinitionProperty);
        if (Conflicts.Count > 0)
            WriteConflicts(json);
        if (Place.Line > 0)
        {
            json.WriteNumber("Line", Place.Line);
            json.WriteNumber("Column", Place.Column);
        }

        json.WriteEndObject();
    }

    private void WriteConflicts(Utf8JsonWriter json)
    {
        json.WriteStartArray("ConcurrencyViolations");
        foreach (ClusterConflict conflict in Conflicts)
        {
            json.WriteStartObject();
            json.WriteString("Id", conflict.Id);
            json.WriteString("Type", conflict.IsDocument ? "Document" : "CompareExchange");
            json.WriteNumber("Expected", conflict.Expected);
            json.WriteNumber("Actual", conflict.Actual);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private string ErrorText => $"{WireType}: {Message}";

    private static ErrorAnswer ForCancelled(ServerRequest? request) => request switch
    {
        HttpServerRequest { IsDatabaseClosing: true } => new(
            StatusCodes.Status503ServiceUnavailable, WireTypes.DatabaseDoesNotExist,
            "The database was deleted while this request was at work."),
        HttpServerRequest { IsOverdue: true } overdue => new(
            StatusCodes.Status408RequestTimeout, WireTypes.Timeout,
            $"The request took longer than the {overdue.Services.Limits.RequestTimeout.TotalSeconds:N0} seconds allowed and was "
                + $"cancelled."),
        _ => new(StatusCodes.Status503ServiceUnavailable, WireTypes.Raven, "The request was cancelled: the server is stopping."),
    };

    private static bool IsOurs(Exception exception) =>
        exception.GetType().Namespace is { } space
            && (space == "Treepie" || space.StartsWith("Treepie.", StringComparison.Ordinal));

    private static string Unexpected(ServerRequest? request) => request is HttpServerRequest http
        ? $"Something went wrong inside the server that should not have. Its log tells more, under request id "
            + $"{http.Http.TraceIdentifier}."
        : "Something went wrong inside the server that should not have. Its log tells more.";
}
