using Treepie.Queries;
using Treepie.Server.Http;

namespace Treepie.Server.Endpoints;

/// <summary>The results of a query as a JSON array, sent as they are found: the answer is never held as a whole.</summary>
internal static class ResultList
{
    /// <summary>Writes the current result, if there is any, and all after it, with their brackets.</summary>
    public static async Task WriteAsync(ServerRequest request, QueryResults results, bool any)
    {
        ResponseBody output = request.Output;
        output.Write("["u8);
        for (bool first = true; any; any = results.MoveNext(), first = false)
        {
            if (!first)
                output.Write(","u8);

            results.WriteCurrent(output);
            await request.PauseAsync().ConfigureAwait(false);
        }

        output.Write("]"u8);
    }
}
