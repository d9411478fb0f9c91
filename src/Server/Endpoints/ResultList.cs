using Treepie.Queries;
using Treepie.Server.Http;

namespace Treepie.Server.Endpoints;

/// <summary>Writes the results of a query as a JSON array as they are found, without buffering the whole response.</summary>
internal static class ResultList
{
    /// <summary>Writes the current result, if there is one, and all following ones, with the brackets.</summary>
    public static async ValueTask WriteAsync(ServerRequest request, QueryResults results, bool any)
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
