using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.IO.Pipelines;
using System.Text.Encodings.Web;
using System.Text.Json;
using Microsoft.Extensions.Primitives;
using Treepie.Queries;
using Treepie.Server.Limits;

namespace Treepie.Server.Http;

/// <summary>
/// A request and its response as endpoints see them: received directly (<see cref="HttpServerRequest"/>) or inside a
/// <c>multi_get</c>. Not thread-safe; must not be used after the request has ended.
/// </summary>
internal abstract class ServerRequest
{
    private static readonly JsonWriterOptions _jsonOptions = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    public abstract RequestServices Services { get; }

    /// <summary>The path and query as sent by the client, for messages.</summary>
    public abstract string Url { get; }

    public abstract string Method { get; }

    /// <summary>Cancelled when the client disconnects, the time limit is exceeded, or the database closes.</summary>
    public abstract CancellationToken Aborted { get; }

    public abstract ResponseBody Output { get; }

    /// <summary>The turn of this request among queries.</summary>
    public abstract QueryTurn Turn { get; }

    /// <summary>The status of the response; 200 unless set before the first byte.</summary>
    public abstract int StatusCode { get; set; }

    /// <summary>
    /// Whether this is part of a <c>multi_get</c>, where a response needs a body even in cases that otherwise are just 404.
    /// </summary>
    public virtual bool IsEmbedded => false;

    protected abstract IQueryCollection Query { get; }

    /// <summary>Records a query of this request for the log of slow requests.</summary>
    /// <param name="text">The text of the query.</param>
    /// <param name="results">The results, which may be disposed when they are logged; null if there are none.</param>
    public abstract void NoteQuery(string text, QueryResults? results);

    public abstract string? Header(string name);

    public abstract void SetHeader(string name, string value);

    /// <summary>Reads the whole body, at most <paramref name="maxBytes"/>, into one buffer.</summary>
    /// <exception cref="WireException">The body is longer.</exception>
    public abstract ValueTask<RequestBody> ReadBodyAsync(long maxBytes);

    /// <summary>Ends a response without a body. Some clients require a Content-Length of 0.</summary>
    public abstract void EndEmpty(int statusCode);

    protected abstract void BeginJson(int statusCode);

    public string? Parameter(string name) =>
        Query.TryGetValue(name, out StringValues values) && values.Count > 0 ? values[0] : null;

    public StringValues Parameters(string name) => Query.TryGetValue(name, out StringValues values) ? values : StringValues.Empty;

    public string RequiredParameter(string name)
    {
        string? value = Parameter(name);
        return string.IsNullOrEmpty(value) ? throw WireException.BadRequest($"The query string lacks '{name}='.") : value;
    }

    public bool Flag(string name, bool otherwise = false)
    {
        string? value = Parameter(name);
        if (string.IsNullOrEmpty(value))
            return otherwise;

        return bool.TryParse(value, out bool flag)
            ? flag
            : throw WireException.BadRequest($"The query string has '{name}={value}', which must be true or false.");
    }

    public long Number(string name, long otherwise)
    {
        string? value = Parameter(name);
        if (string.IsNullOrEmpty(value))
            return otherwise;

        return long.TryParse(value, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long number) && number >= 0
            ? number
            : throw WireException.BadRequest($"The query string has '{name}={value}', which must be a whole number from 0 on.");
    }

    /// <summary>Parses a time span as sent by clients: <c>[d.]hh:mm:ss[.fffffff]</c> or milliseconds.</summary>
    public TimeSpan? Time(string name)
    {
        string? value = Parameter(name);
        if (string.IsNullOrEmpty(value))
            return null;

        return WireTime.TryParseSpan(value, out TimeSpan span)
            ? span
            : throw WireException.BadRequest(
                $"The query string has '{name}={value}', which must be a time such as 00:00:15, or milliseconds.");
    }

    /// <summary>Returns the change vector in a header, without quotes; null if absent.</summary>
    public string? ChangeVectorHeader(string name) => Header(name)?.Trim().Trim('"');

    public void SetETag(string etag) => SetHeader("ETag", $"\"{etag}\"");

    /// <summary>Starts a JSON response; the caller writes all of it to <see cref="Output"/>.</summary>
    public ResponseBody BeginJsonBody(int statusCode = StatusCodes.Status200OK)
    {
        BeginJson(statusCode);
        return Output;
    }

    /// <summary>Responds with a small JSON value.</summary>
    [SuppressMessage(
        "Reliability", "CA2000", Justification = "The writer is disposed here; the analyzer does not follow the using.")]
    public Task JsonAsync(Action<Utf8JsonWriter> write, int statusCode = StatusCodes.Status200OK)
    {
        BeginJson(statusCode);
        using var writer = new Utf8JsonWriter((IBufferWriter<byte>)Output, _jsonOptions);
        write(writer);
        return Task.CompletedTask;
    }

    /// <summary>Responds with a small JSON value created from <paramref name="state"/>.</summary>
    public Task JsonAsync<T>(T state, Action<Utf8JsonWriter, T> write, int statusCode = StatusCodes.Status200OK)
    {
        BeginJson(statusCode);
        using var writer = new Utf8JsonWriter((IBufferWriter<byte>)Output, _jsonOptions);
        write(writer, state);
        return Task.CompletedTask;
    }

    /// <summary>
    /// Must be called between the results of a response: flushes if enough has been written, and lets other queries run,
    /// while waiting for the reader and otherwise from time to time.
    /// </summary>
    public ValueTask PauseAsync() => Output.IsFlushDue || Turn.IsOver ? FlushAndShareAsync() : default;

    public Task NoContentAsync()
    {
        EndEmpty(StatusCodes.Status204NoContent);
        return Task.CompletedTask;
    }

    public Task EmptyAsync(int statusCode)
    {
        EndEmpty(statusCode);
        return Task.CompletedTask;
    }

    private async ValueTask FlushAndShareAsync()
    {
        bool isTaken = Turn.IsTaken;
        ValueTask<FlushResult> flush = Output.IsFlushDue ? Output.FlushAsync(Aborted) : default;
        if (!flush.IsCompleted)
            Turn.Release();
        await flush.ConfigureAwait(false);
        if (isTaken)
            await Turn.ShareAsync(Aborted).ConfigureAwait(false);
    }
}
