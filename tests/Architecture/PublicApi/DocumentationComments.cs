using System.Reflection;
using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Treepie.Architecture.Tests.PublicApi;

/// <summary>The comments of types and members, as the compiler has put them beside the assemblies, as Markdown.</summary>
internal sealed partial class DocumentationComments
{
    private readonly Dictionary<string, XElement> _comments = new(StringComparer.Ordinal);
    private readonly Func<string, string?> _pageOf;

    /// <param name="files">The compiler's XML files.</param>
    /// <param name="pageOf">The page of a type, by its name in the files; null: it has none.</param>
    public DocumentationComments(IEnumerable<string> files, Func<string, string?> pageOf)
    {
        _pageOf = pageOf;
        foreach (string file in files)
            foreach (XElement member in XDocument.Load(file, LoadOptions.PreserveWhitespace).Descendants("member"))
                _comments.TryAdd(member.Attribute("name")?.Value ?? "", member);
    }

    /// <summary>The paragraphs about a type or member; empty where nothing is said.</summary>
    public IReadOnlyList<string> Of(MemberInfo member)
    {
        if (Find(member) is not { } comment)
            return [];
        List<string> paragraphs = [];
        foreach (XElement part in comment.Elements())
        {
            string text = Text(part);
            if (text.Length == 0)
                continue;
            switch (part.Name.LocalName)
            {
                case "summary" or "remarks":
                    paragraphs.Add(text);
                    break;
                case "returns":
                    paragraphs.Add($"Returns: {text}");
                    break;
                case "param" or "typeparam":
                    paragraphs.Add($"- `{part.Attribute("name")?.Value}`: {text}");
                    break;
                case "exception":
                    paragraphs.Add($"- throws {Reference(part.Attribute("cref")?.Value ?? "")}: {text}");
                    break;
            }
        }

        return paragraphs;
    }

    /// <summary>A member's own comment, or the one it inherits.</summary>
    private XElement? Find(MemberInfo member)
    {
        XElement? own = _comments.GetValueOrDefault(DocumentationIds.Of(member));
        for (int steps = 0; own?.Element("inheritdoc") is { } inherits && steps < 8; steps++)
            own = inherits.Attribute("cref")?.Value is { } other
                ? _comments.GetValueOrDefault(other)
                : Above(member).Select(above => _comments.GetValueOrDefault(DocumentationIds.Of(above))).FirstOrDefault(
                    above => above is not null);
        return own;
    }

    /// <summary>The members of bases and interfaces that a member stands for.</summary>
    private static IEnumerable<MemberInfo> Above(MemberInfo member)
    {
        if (member.DeclaringType is not { } owner)
            yield break;
        IEnumerable<Type> above = owner.BaseType is { } type ? [type, .. owner.GetInterfaces()] : owner.GetInterfaces();
        string[] parameters = ParametersOf(member);
        foreach (Type one in above)
            foreach (MemberInfo other in one.GetMember(member.Name))
                if (other.MemberType == member.MemberType && ParametersOf(other).SequenceEqual(parameters))
                    yield return one.IsGenericType
                        ? one.GetGenericTypeDefinition().GetMember(member.Name).FirstOrDefault() ?? other
                        : other;
    }

    private static string[] ParametersOf(MemberInfo member) =>
        member is MethodBase method ? [.. method.GetParameters().Select(parameter => parameter.ParameterType.Name)] : [];

    private string Text(XElement element)
    {
        var text = new StringBuilder();
        foreach (XNode node in element.Nodes())
            text.Append(node switch
            {
                XText words => Spaces().Replace(words.Value, " "),
                XElement { Name.LocalName: "see" or "seealso" } see => Reference(see),
                XElement { Name.LocalName: "c" } code => $"`{code.Value}`",
                XElement { Name.LocalName: "code" } block => $"\n\n```csharp\n{Unindented(block.Value)}\n```\n\n",
                XElement { Name.LocalName: "para" } paragraph => $"\n\n{Text(paragraph)}\n\n",
                XElement { Name.LocalName: "paramref" or "typeparamref" } name => $"`{name.Attribute("name")?.Value}`",
                XElement other => Text(other),
                _ => "",
            });
        return string.Join('\n', text.ToString().Trim().Split('\n').Select(line => line.TrimEnd()));
    }

    private string Reference(XElement see) =>
        see.Attribute("langword")?.Value is { } word ? $"`{word}`"
        : see.Attribute("href")?.Value is { } address ? $"<{address}>"
        : Reference(see.Attribute("cref")?.Value ?? "");

    /// <summary>What a comment refers to by its name in the files: a link where it has a page.</summary>
    private string Reference(string id)
    {
        string name = Parameters().Replace(id.Length > 2 ? id[2..] : id, "");
        bool isType = id.StartsWith("T:", StringComparison.Ordinal);
        string type = isType ? name : name[..Math.Max(0, name.LastIndexOf('.'))];
        string last = Arity().Replace(name[(name.LastIndexOf('.') + 1)..], "");
        string owner = Arity().Replace(type[(type.LastIndexOf('.') + 1)..], "");
        string shown = isType ? last : last == "#ctor" ? owner : $"{owner}.{last}";
        return _pageOf(type) is { } page ? $"[`{shown}`]({page})" : $"`{shown}`";
    }

    private static string Unindented(string code)
    {
        string[] lines = code.Trim('\n', '\r', ' ').Split('\n');
        int indent = lines.Skip(1).Where(line => line.Trim().Length > 0).Select(line => line.Length - line.TrimStart().Length)
            .DefaultIfEmpty(0).Min();
        return string.Join(
            '\n', lines.Select((line, at) => at == 0 || line.Length < indent ? line.Trim() : line[indent..].TrimEnd()));
    }

    [GeneratedRegex("\\s+")]
    private static partial Regex Spaces();

    [GeneratedRegex("\\(.*")]
    private static partial Regex Parameters();

    [GeneratedRegex("`+\\d+")]
    private static partial Regex Arity();
}
