using Treepie.Tests.Support;

namespace Treepie.Server.Tests.Support;

/// <summary>The real server in a process that may open only so many files.</summary>
internal static class LimitedServer
{
    public static Task<ServerProcess> StartAsync(int openFiles, params string[] arguments) =>
        ServerProcess.StartUnderAsync(["/bin/sh", "-c", $"ulimit -n {openFiles} && exec \"$@\"", "sh"], arguments);
}
