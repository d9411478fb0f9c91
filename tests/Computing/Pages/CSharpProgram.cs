using System.Reflection;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Treepie.Computing.Tests.Pages;

/// <summary>A block of C# of a page as a program, with what the page leaves out because its reader has it.</summary>
internal static class CSharpProgram
{
    private const string Usings = """
        using System; using System.Collections.Generic; using System.IO; using System.Linq; using System.Threading;
        using System.Text.Json.Serialization; using System.Threading.Tasks; using Treepie; using Treepie.Encryption;
        using Treepie.Indexes; using Treepie.Kinds; using Treepie.Linq; using Treepie.Sessions; using Treepie.Store;
        using Treepie.Writes;
        """;

    private static readonly Lazy<IReadOnlyList<MetadataReference>> _platform = new(static () =>
    [
        .. ((string?)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES") ?? "").Split(Path.PathSeparator)
            .Select(static path => MetadataReference.CreateFromFile(path)),
    ]);

    /// <summary>Compiles a block.</summary>
    /// <param name="text">The block.</param>
    /// <param name="given">The class whose members and nested classes the block uses as if they were its own.</param>
    public static Assembly Compile(string text, Type given)
    {
        CompilationUnitSyntax unit = SyntaxFactory.ParseCompilationUnit(text);
        string usings = string.Concat(unit.Usings.Select(static one => one.ToFullString()));
        GlobalStatementSyntax[] statements = [.. unit.Members.OfType<GlobalStatementSyntax>()];
        string types = string.Concat(
            unit.Members.Where(static one => one is not GlobalStatementSyntax).Select(static one => one.ToFullString()));
        SyntaxTree tree = CSharpSyntaxTree.ParseText(
            $"{Usings}{usings}using static {given.FullName};\n"
            + $"{string.Concat(statements.Select(static one => one.ToFullString()))}\n{types}",
            cancellationToken: TestContext.Current.CancellationToken);
        CSharpCompilation program = CSharpCompilation.Create(
            "Page", [tree], _platform.Value,
            new CSharpCompilationOptions(
                statements.Length > 0 ? OutputKind.ConsoleApplication : OutputKind.DynamicallyLinkedLibrary,
                nullableContextOptions: NullableContextOptions.Enable));
        using var image = new MemoryStream();
        string[] errors =
        [
            .. program.Emit(image, cancellationToken: TestContext.Current.CancellationToken).Diagnostics
                .Where(static one => one.Severity == DiagnosticSeverity.Error)
                .Select(static one => one.ToString()),
        ];
        Assert.True(errors.Length == 0, $"the program does not compile: {string.Join("; ", errors)}");
        return Assembly.Load(image.ToArray());
    }

    /// <summary>Runs a compiled block, if it is more than declarations of types.</summary>
    public static void Run(Assembly program)
    {
        try
        {
            program.EntryPoint?.Invoke(null, [Array.Empty<string>()]);
        }
        catch (TargetInvocationException error) when (error.InnerException is { } inner)
        {
            System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(inner);
        }
    }
}
