using Treepie.Server.Http;

namespace Treepie.Server.Endpoints;

/// <summary>Gives endpoints access to the whole server; lower layers know only <see cref="RequestServices"/>.</summary>
internal static class ServerOfRequest
{
    extension(ServerRequest request)
    {
        /// <summary>The server that received the request.</summary>
        public ServerContext Server => (ServerContext)request.Services; // the only implementation

        /// <summary>Returns what all databases share.</summary>
        /// <param name="what">What is asked for, in the plural, for the message.</param>
        /// <param name="path">Where a single database has it, below <c>admin</c>.</param>
        /// <exception cref="WireException">There is only one database.</exception>
        public SharedDefinitions RequireShared(string what, string path) =>
            request.Server.Databases.Shared ?? throw new WireException(
                StatusCodes.Status501NotImplemented, WireTypes.NotSupported,
                $"{what} for all databases are not available here, as this server has one database, given by the program it is "
                    + $"part of. Put them in that database: PUT /databases/{{name}}/admin/{path}. Nothing was changed.");
    }
}
