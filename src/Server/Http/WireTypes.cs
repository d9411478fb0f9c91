namespace Treepie.Server.Http;

/// <summary>The names of errors in the protocol. Clients create an exception of the type named after the last dot.</summary>
internal static class WireTypes
{
    public const string BadRequest = "Raven.Client.Exceptions.BadRequestException";
    public const string Raven = "Raven.Client.Exceptions.RavenException";
    public const string Concurrency = "Raven.Client.Exceptions.ConcurrencyException";
    public const string ClusterTransactionConcurrency = "Raven.Client.Exceptions.ClusterTransactionConcurrencyException";
    public const string DocumentDoesNotExist = "Raven.Client.Exceptions.Documents.DocumentDoesNotExistException";
    public const string AttachmentDoesNotExist = "Raven.Client.Exceptions.Documents.Attachments.AttachmentDoesNotExistException";
    public const string CounterOverflow = "Raven.Client.Exceptions.Documents.Counters.CounterOverflowException";
    public const string InvalidQuery = "Raven.Client.Exceptions.InvalidQueryException";
    public const string IndexDoesNotExist = "Raven.Client.Exceptions.Documents.Indexes.IndexDoesNotExistException";
    public const string IndexCompilation = "Raven.Client.Exceptions.Documents.Compilation.IndexCompilationException";
    public const string AnalyzerCompilation =
        "Raven.Client.Exceptions.Documents.Compilation.AnalyzerCompilationException";

    public const string SorterCompilation = "Raven.Client.Exceptions.Documents.Compilation.SorterCompilationException";
    public const string DatabaseDoesNotExist = "Raven.Client.Exceptions.Database.DatabaseDoesNotExistException";
    public const string DatabaseDisabled = "Raven.Client.Exceptions.Database.DatabaseDisabledException";
    public const string DatabaseLoadFailure = "Raven.Client.Exceptions.Database.DatabaseLoadFailureException";
    public const string RouteNotFound = "Raven.Client.Exceptions.Routing.RouteNotFoundException";
    public const string Authorization = "Raven.Client.Exceptions.Security.AuthorizationException";
    public const string NotSupported = "Raven.Client.Exceptions.NotSupportedException";
    public const string Script = "Raven.Client.Exceptions.Documents.Patching.JavaScriptException";
    public const string ScriptSyntax = "Raven.Client.Exceptions.Documents.Patching.JavaScriptParseException";
    public const string Timeout = "System.TimeoutException";
}
