using System.Buffers;
using System.Text;
using Microsoft.AspNetCore.WebUtilities;
using Treepie.Queries;
using Treepie.Server.Limits;

namespace Treepie.Server.Http;

/// <summary>
/// A request inside a <c>multi_get</c>: writes to the response body of the outer request, and has its own status and ETag,
/// which are written after its result.
/// </summary>
internal sealed class EmbeddedServerRequest(
    HttpServerRequest outer, string path, string query, string method, IReadOnlyDictionary<string, string> headers,
    string? content) : ServerRequest
{
    private long _outputStart = long.MaxValue;

    public override RequestServices Services => outer.Services;

    public override string Url => path + query;

    public override string Method => method;

    public override CancellationToken Aborted => outer.Aborted;

    public override ResponseBody Output => outer.Output;

    public override QueryTurn Turn => outer.Turn;

    public override int StatusCode { get; set; } = StatusCodes.Status200OK;

    public override bool IsEmbedded => true;

    /// <summary>The quoted ETag of the response; null if it has none.</summary>
    public string? ETag { get; private set; }

    /// <summary>Whether the response has a body.</summary>
    public bool HasBody => Output.WrittenBytes > _outputStart;

    protected override IQueryCollection Query { get; } = new QueryCollection(QueryHelpers.ParseQuery(query));

    /// <summary>Starts the response: everything written from now on belongs to it.</summary>
    public void BeginAnswer() => _outputStart = Output.WrittenBytes;

    public override string? Header(string name) => headers.GetValueOrDefault(name);

    public override void SetHeader(string name, string value)
    {
        if (name == "ETag")
            ETag = value;
    }

    public override void NoteQuery(string text, QueryResults? results) => outer.NoteQuery(text, results);

    public override void EndEmpty(int statusCode) => StatusCode = statusCode;

    protected override void BeginJson(int statusCode) => StatusCode = statusCode;

    public override ValueTask<RequestBody> ReadBodyAsync(long maxBytes)
    {
        if (string.IsNullOrEmpty(content))
            return ValueTask.FromResult(RequestBody.Empty);

        byte[] bytes = Encoding.UTF8.GetBytes(content);
        if (bytes.LongLength > maxBytes)
            throw WireException.TooLarge(
                $"The request's content has {bytes.LongLength:N0} bytes; {maxBytes:N0} are allowed here.");

        var body = new RequestBody(outer.Services.Buffers.Open());
        try
        {
            body.Append(new ReadOnlySequence<byte>(bytes), bytes.Length);
            return ValueTask.FromResult(body);
        }
        catch
        {
            body.Dispose();
            throw;
        }
    }
}
