using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Text.Encodings.Web;
using System.Text.Json;
using Microsoft.Extensions.Primitives;
using Treepie.Queries;
using Treepie.Server.Limits;

namespace Treepie.Server.Http;

/// <summary>
/// One request and its answer as endpoints see them: from a connection (<see cref="HttpServerRequest"/>) or from inside a
/// <c>multi_get</c>. Not thread-safe; ends with the request.
/// </summary>
internal abstract class ServerRequest
{
    private static readonly JsonWriterOptions _jsonOptions = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    public abstract RequestServices Services { get; }

    /// <summary>Path and query as the caller wrote them, for messages.</summary>
    public abstract string Url { get; }

    public abstract string Method { get; }

    /// <summary>Cancelled when the caller hangs up, the time is over or the database closes.</summary>
    public abstract CancellationToken Aborted { get; }

    public abstract ResponseBody Output { get; }

    /// <summary>The place of this request among queries.</summary>
    public abstract QueryTurn Turn { get; }

    /// <summary>Status of the answer; 200 unless set, before the first byte.</summary>
    public abstract int StatusCode { get; set; }

    /// <summary>
    /// Whether this is a part of a <c>multi_get</c>, whose answer must have a body where another would just say 404.
    /// </summary>
    public virtual bool IsEmbedded => false;

    protected abstract IQueryCollection Query { get; }

    /// <summary>Remembers a query that this request runs, for the log of slow requests.</summary>
    /// <param name="text">Its text.</param>
    /// <param name="results">Its results, which may be disposed by then; null where there are none.</param>
    public abstract void NoteQuery(string text, QueryResults? results);

    public abstract string? Header(string name);

    public abstract void SetHeader(string name, string value);

    /// <summary>The whole body, at most <paramref name="maxBytes"/>, in one pooled buffer.</summary>
    /// <exception cref="WireException">It is longer.</exception>
    public abstract ValueTask<RequestBody> ReadBodyAsync(long maxBytes);

    /// <summary>Ends an answer without a body. Clients of some commands insist on a length of 0.</summary>
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

    /// <summary>A span of time as clients write it: <c>[d.]hh:mm:ss[.fffffff]</c> or milliseconds.</summary>
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

    /// <summary>The change vector of a header, without quotes; null if absent.</summary>
    public string? ChangeVectorHeader(string name) => Header(name)?.Trim().Trim('"');

    public void SetETag(string etag) => SetHeader("ETag", $"\"{etag}\"");

    /// <summary>Begins a JSON answer; the caller writes all of it to <see cref="Output"/>.</summary>
    public ResponseBody BeginJsonBody(int statusCode = StatusCodes.Status200OK)
    {
        BeginJson(statusCode);
        return Output;
    }

    /// <summary>Answers with a small JSON value.</summary>
    [SuppressMessage(
        "Reliability", "CA2000", Justification = "The writer is disposed here; the analyzer does not follow the using.")]
    public Task JsonAsync(Action<Utf8JsonWriter> write, int statusCode = StatusCodes.Status200OK)
    {
        BeginJson(statusCode);
        using var writer = new Utf8JsonWriter((IBufferWriter<byte>)Output, _jsonOptions);
        write(writer);
        return Task.CompletedTask;
    }

    /// <summary>Answers with a small JSON value made of <paramref name="state"/>.</summary>
    public Task JsonAsync<T>(T state, Action<Utf8JsonWriter, T> write, int statusCode = StatusCodes.Status200OK)
    {
        BeginJson(statusCode);
        using var writer = new Utf8JsonWriter((IBufferWriter<byte>)Output, _jsonOptions);
        write(writer, state);
        return Task.CompletedTask;
    }

    /// <summary>
    /// To be called between the results of an answer: hands over what is written if it is enough, and lets other queries
    /// work, always while the reader is
    /// behind and otherwise after a while.
    /// </summary>
    public async ValueTask PauseAsync()
    {
        bool isTaken = Turn.IsTaken;
        ValueTask<System.IO.Pipelines.FlushResult> flush = Output.FlushIfNeededAsync(Aborted);
        if (!flush.IsCompleted)
            Turn.Release();
        await flush.ConfigureAwait(false);
        if (isTaken)
            await Turn.ShareAsync(Aborted).ConfigureAwait(false);
    }

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
}
