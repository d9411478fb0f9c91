using Treepie.Server.Http;

namespace Treepie.Server.Endpoints;

/// <summary>Gives endpoints access to the whole server; lower layers know only <see cref="RequestServices"/>.</summary>
internal static class ServerOfRequest
{
    extension(ServerRequest request)
    {
        /// <summary>The server that received the request.</summary>
        public ServerContext Server => (ServerContext)request.Services; // the only implementation
    }
}
