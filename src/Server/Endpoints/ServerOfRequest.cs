using Treepie.Server.Http;

namespace Treepie.Server.Endpoints;

/// <summary>The whole server, for endpoints: the rooms below know only what every request uses.</summary>
internal static class ServerOfRequest
{
    extension(ServerRequest request)
    {
        /// <summary>The server that the request came to.</summary>
        public ServerContext Server => (ServerContext)request.Services; // there is no other
    }
}
