using System.Reflection;
using System.Text;
using System.Text.RegularExpressions;

namespace Treepie.Architecture.Tests.PublicApi;

/// <summary>The pages of <c>docs/reference/api</c>: one for each namespace of each package, and one that lists them.</summary>
internal sealed partial class ApiPages
{
    private static readonly (string Framework, string Keyword)[] _keywords =
    [
        ("String", "string"), ("Int32", "int"), ("Int64", "long"), ("Boolean", "bool"), ("Byte", "byte"), ("Double", "double"),
        ("Single", "float"), ("Object", "object"), ("Void", "void"), ("Char", "char"), ("UInt32", "uint"), ("UInt64", "ulong"),
        ("Int16", "short"), ("UInt16", "ushort"), ("Decimal", "decimal"),
    ];

    private readonly Dictionary<string, string> _pages = new(StringComparer.Ordinal);
    private readonly Dictionary<string, string> _places = new(StringComparer.Ordinal);
    private readonly string[] _namespaces;
    private readonly DocumentationComments _comments;

    private ApiPages(IReadOnlyList<(string Package, Assembly Assembly)> packages)
    {
        _namespaces =
        [
            .. packages.SelectMany(package => PublicApiText.TypesOf(package.Assembly)).Select(type => type.Namespace ?? "")
                .Distinct().OrderByDescending(name => name.Length)
        ];
        foreach ((_, Assembly assembly) in packages)
            foreach (Type type in PublicApiText.TypesOf(assembly))
                _places[DocumentationIds.Of(type)[2..]] = $"{type.Namespace}.md#{Anchor(Title(type))}";
        _comments = new DocumentationComments(
            packages.Select(package => Path.ChangeExtension(package.Assembly.Location, ".xml")),
            name => _places.GetValueOrDefault(name));
        var index = new StringBuilder(
            """
            # The API

            What the packages let a program use, made from the comments in the code. How it is used:
            [first steps](../../tutorial/first-steps.md), [sessions](../../howto/sessions.md), [LINQ](../../howto/linq.md).

            """).Append('\n');
        var byNamespace = packages.SelectMany(package => PublicApiText.TypesOf(package.Assembly)
                .Select(type => (package.Package, Type: type)))
            .ToLookup(one => one.Type.Namespace ?? "");
        foreach (IGrouping<string, (string Package, Type Type)> space in byNamespace)
            _pages[$"{space.Key}.md"] = Page(space.Key, [.. space.OrderBy(one => Title(one.Type), StringComparer.Ordinal)]);
        foreach ((string package, _) in packages)
        {
            Add(index, $"## {package}\n\n");
            foreach (IGrouping<string, (string Package, Type Type)> space in byNamespace
                .OrderBy(space => space.Key, StringComparer.Ordinal))
            {
                string[] types =
                [
                    .. space.Where(one => one.Package == package).Select(one => Title(one.Type)).Order(StringComparer.Ordinal)
                ];
                if (types.Length > 0)
                    Add(
                        index,
                        $"- [{space.Key}]({space.Key}.md): "
                            + $"{string.Join(", ", types.Select(type => $"[`{type}`]({space.Key}.md#{Anchor(type)})"))}\n");
            }

            index.Append('\n');
        }

        _pages["README.md"] = index.ToString().TrimEnd() + "\n";
    }

    /// <summary>The pages of packages, by name of the file.</summary>
    public static IReadOnlyDictionary<string, string> Of(IReadOnlyList<(string Package, Assembly Assembly)> packages) =>
        new ApiPages(packages)._pages;

    private string Page(string name, (string Package, Type Type)[] types)
    {
        string from = string.Join(", ", types.Select(one => $"`{one.Package}`").Distinct().Order(StringComparer.Ordinal));
        var page = new StringBuilder($"# {name}\n\nFrom {from}. [All pages](README.md)\n\n");
        foreach ((_, Type type) in types)
        {
            Add(page, $"## `{Title(type)}`\n\n```csharp\n{Short(PublicApiText.Heading(type))}\n```\n\n");
            Write(page, _comments.Of(type));
            if (type.IsEnum)
            {
                foreach ((MemberInfo member, string text) in PublicApiText.MembersOf(type))
                    Add(page, $"- `{text}`: {string.Join(' ', _comments.Of(member)).ReplaceLineEndings(" ")}\n");
                page.Append('\n');
                continue;
            }

            foreach ((MemberInfo member, string text) in PublicApiText.MembersOf(type)
                .OrderBy(member => member.Text.StartsWith("new(", StringComparison.Ordinal) ? 0 : 1)
                .ThenBy(member => member.Member.Name, StringComparer.Ordinal)
                .ThenBy(member => member.Text, StringComparer.Ordinal))
            {
                IReadOnlyList<string> comment = _comments.Of(member);
                if (comment.Count == 0 && IsSelfEvident(type, member))
                    continue;
                Add(page, $"**`{Short(text)}`**\n\n");
                Write(page, comment);
            }
        }

        return page.ToString().TrimEnd() + "\n";
    }

    /// <summary>
    /// Whether a member about which nothing is said needs no words: constructors without parameters and ends of life, what the
    /// framework describes, and what the comment of a record says of its parts.
    /// </summary>
    private static bool IsSelfEvident(Type type, MemberInfo member) => member switch
    {
        ConstructorInfo => true,
        MethodInfo method => method.Name is "Dispose" or "DisposeAsync" or "Equals" || IsOfFramework(method),
        PropertyInfo property => property.Name == "EqualityContract"
            || IsOfFramework(property.GetMethod ?? property.SetMethod)
            || type.GetConstructors().Any(
                made => made.GetParameters().Any(parameter => parameter.Name == property.Name)),
        _ => false,
    };

    private static bool IsOfFramework(MethodInfo? method) =>
        method?.GetBaseDefinition().DeclaringType?.Namespace?.StartsWith("System", StringComparison.Ordinal) == true;

    private static void Add(StringBuilder page, string text) => page.Append(text);

    private static void Write(StringBuilder page, IReadOnlyList<string> paragraphs)
    {
        for (int i = 0; i < paragraphs.Count; i++)
        {
            bool isList = paragraphs[i].StartsWith("- ", StringComparison.Ordinal)
                && i + 1 < paragraphs.Count
                && paragraphs[i + 1].StartsWith("- ", StringComparison.Ordinal);
            page.Append(paragraphs[i]).Append(isList ? "\n" : "\n\n");
        }
    }

    /// <summary>A type's name without its namespace.</summary>
    private string Title(Type type) => Short(PublicApiText.NameOf(type));

    /// <summary>A line as a program would write it.</summary>
    private string Short(string line)
    {
        foreach (string name in _namespaces)
            line = line.Replace(name + ".", "", StringComparison.Ordinal);
        foreach ((string framework, string keyword) in _keywords)
            line = Regex.Replace(line, $@"\b{framework}\b", keyword);
        return line;
    }

    /// <summary>How a page's heading is linked to.</summary>
    private static string Anchor(string title) => NotInAnchors().Replace(title.ToLowerInvariant(), "").Replace(' ', '-');

    [GeneratedRegex("[^a-z0-9 _-]")]
    private static partial Regex NotInAnchors();
}
