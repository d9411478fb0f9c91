using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;

namespace Treepie.Sessions;

/// <summary>Compares two states of a document, member by member.</summary>
internal static class SessionDiff
{
    public static IReadOnlyList<SessionChange> Of(byte[] before, byte[] now)
    {
        var changes = new List<SessionChange>();
        Compare("", Parse(before), Parse(now), changes);
        return changes;
    }

    private static JsonNode? Parse(byte[] document) =>
        JsonNode.Parse(document, documentOptions: new JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth });

    private static void Compare(string path, JsonNode? before, JsonNode? now, List<SessionChange> changes)
    {
        if (before is JsonObject oldMembers && now is JsonObject newMembers)
        {
            foreach ((string name, JsonNode? old) in oldMembers)
            {
                if (newMembers.TryGetPropertyValue(name, out JsonNode? value))
                    Compare(Member(path, name), old, value, changes);
                else
                    changes.Add(new SessionChange(SessionChangeKind.Removed, Member(path, name), old));
            }

            foreach ((string name, JsonNode? value) in newMembers)
                if (!oldMembers.ContainsKey(name))
                    changes.Add(new SessionChange(SessionChangeKind.Added, Member(path, name), null, value));
        }
        else if (before is JsonArray oldElements && now is JsonArray newElements)
        {
            for (int i = 0; i < Math.Max(oldElements.Count, newElements.Count); i++)
            {
                string element = string.Create(CultureInfo.InvariantCulture, $"{path}[{i}]");
                if (i >= newElements.Count)
                    changes.Add(new SessionChange(SessionChangeKind.Removed, element, oldElements[i]));
                else if (i >= oldElements.Count)
                    changes.Add(new SessionChange(SessionChangeKind.Added, element, null, newElements[i]));
                else
                    Compare(element, oldElements[i], newElements[i], changes);
            }
        }
        else if (!JsonNode.DeepEquals(before, now))
        {
            changes.Add(new SessionChange(SessionChangeKind.Changed, path, before, now));
        }
    }

    private static string Member(string path, string name) => path.Length == 0 ? name : $"{path}.{name}";
}
