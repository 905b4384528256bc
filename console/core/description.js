/**
 * The types of descriptions. No browser loads them: the checker reads them.
 */

/**
 * A field of a row, a body or a query.
 *
 * @typedef {object} Field
 * @property {string} name
 * @property {'text' | 'number' | 'integer' | 'boolean' | 'date' | 'date-time' | 'choice' | 'file'
 *   | 'object' | 'array' | 'texts'} type `texts`: an object of texts by names that people choose
 * @property {boolean} [isRequired]
 * @property {boolean} [isNullable]
 * @property {readonly (string | number)[]} [choices]
 * @property {unknown} [default]
 * @property {number} [maxLength] characters
 * @property {number} [minimum]
 * @property {number} [above] the value must be greater
 * @property {number} [maximum]
 * @property {number} [maxItems]
 * @property {readonly Field[]} [fields] of an object
 * @property {Omit<Field, 'name'> & {name?: string}} [items] of an array
 * @property {readonly {label: string, fills: import('../components/fields.js').Draft}[]} [suggested] values
 *   to choose from, with the fields beside it that belong to them
 */

/**
 * A list of the interface.
 *
 * @typedef {object} List
 * @property {string | null} permission a user needs it; null if every user can read the list
 * @property {readonly Field[]} fields of a row
 * @property {readonly Field[]} filters
 * @property {readonly string[]} sorts
 * @property {string | null} sort the order that a list has by itself, such as `-created_at`
 */

/**
 * A write of the interface.
 *
 * @typedef {object} Write
 * @property {string | null} permission
 * @property {readonly string[]} [otherPermissions] each is enough, too
 * @property {string} name operation id, such as `finalize_receipt`
 * @property {readonly Field[]} [body] null or missing if there is none
 */

/**
 * What the interface has below the first part of a path. Generated into `console/interface`.
 *
 * @typedef {object} Interface
 * @property {Record<string, List>} lists path → list
 * @property {Record<string, {permission: string | null, fields: readonly Field[]}>} details
 * @property {Record<string, Write>} actions method and path → write
 */

/**
 * A list of lines on paper, in which people write what they do.
 *
 * @typedef {object} Sheet
 * @property {string} label name of its words
 * @property {string} [at] the field with the lines, or `expected`; `lines` without it
 * @property {readonly string[]} columns fields of a line, or `product_name`, which may be read for it
 * @property {readonly string[]} blanks fields to write in
 */

/**
 * The description of a subject.
 *
 * @typedef {object} Subject
 * @property {string} name part of its paths
 * @property {string} [kind] of one resource, as links, movements and the audit log name it
 * @property {string} [permission] a user needs it to read the list
 * @property {'oversight' | 'inbound' | 'outbound' | 'moving' | 'stock' | 'catalog' | 'setup'} group of
 *   the menu
 * @property {readonly string[]} columns fields of the list that are shown at first
 * @property {string} title field that names a resource for people
 * @property {{subject: string, filter: string}} [about] the list is about one resource of another
 *   subject: until its filter has an id, it offers those resources
 * @property {string} [setting] that fills the list when it is on
 * @property {Readonly<Record<string, string>>} [finds] filter → the part of what a person writes or
 *   scans that the search over all subjects asks it for: `text`; `entered`, which Enter ends; `gtin`,
 *   `sscc` and `batch` of a scan; `whole`, which must be equal, and shows the list; a prefix: `WV` for
 *   the 12 of `WV-12`; or `kind` for the 12 of `Transfer 12`. `name` is no filter: the names of a list
 *   without one are compared; `id` is that of a resource without a list
 * @property {string} [prefix] what stands before the id in its code, unless `finds` has it in `ids`
 * @property {string} [create] operation that makes one
 * @property {() => Resource} [begins] values with which its form begins
 * @property {readonly string[]} [more] other operations that make some
 * @property {string} [change] operation that changes one, with the values of the detail
 * @property {(resource: Record<string, any>) => Record<string, unknown>} [formValues] what the
 *   change form shows of fields that the detail names or writes differently
 * @property {boolean} [sells] lines show what can be sold
 * @property {string} [lines] module in `console/components` that shows the lines, if no table is enough
 * @property {Sheet} [sheet] list of the lines to print and to write on
 * @property {readonly Action[]} [actions]
 * @property {readonly Together[]} [together] writes about several resources of the list
 * @property {{subject: string, id: (resource: Resource) => number | undefined,
 *   statuses: readonly string[], columns: readonly string[]}} [expected] another resource, whose lines
 *   are worked on in these statuses
 * @property {Record<string, string>} [links] field with an object → subject of this object
 * @property {boolean} [isApproved] changes of it may need an approval
 * @property {readonly string[]} [hidden] fields of the detail that another list shows
 * @property {string} [parent] subject below whose resources it is
 * @property {string} [from] subject in whose list it is made, if it has no list of its own
 * @property {string} [item] name of its id in a path, if it is not `id`
 * @property {readonly string[]} [parts] subjects below a resource of this one
 * @property {readonly string[]} [waits] statuses that end by themselves, soon
 * @property {readonly string[]} [panels] modules in `console/screens/panels` below the detail
 * @property {readonly {path: string, label: string}[]} [files] of a resource, to print
 * @property {Record<string, {subject: string, filter: string, isShown?: boolean}>} [related] lists of
 *   other subjects about this resource: filter → `id` or field of the resource; the detail has the first
 *   rows of those that are shown
 * @property {(resource: Resource) => Resource} [copies] values with which the form of another one begins
 */

/**
 * An action at a resource. The field `actions` of a resource with states has the names of those that
 * its state allows.
 *
 * @typedef {object} Action
 * @property {string} operation such as `POST /receipts/{id}/start`
 * @property {string} [name] in `actions`; the last part of the path without it. It may be the name of
 *   another action that is possible in the same states; empty if only `when` decides
 * @property {Record<string, readonly unknown[]>} [when] field → the values with which it is offered;
 *   `document.type` is a field of a field
 * @property {Record<string, readonly unknown[]>} [unless] field → the values with which it is not
 * @property {readonly string[]} [asks] fields of the body that its form has; all without it
 * @property {Record<string, unknown>} [sends] what it always sends
 * @property {string} [label] name of its words, if it is not the operation id
 * @property {boolean} [isForOthers] users do it to other users only
 * @property {string} [field] of an action at another subject: the field that gets the id
 * @property {boolean | ((resource: Resource) => boolean)} [atOnce] whether it is carried out without
 *   a dialog: it loses nothing, or can be undone
 * @property {(resource: Resource, made: Made) => boolean} [isAside] whether there is no need of it
 * @property {readonly string[]} [then] operations that follow at what it has made
 * @property {(resource: Resource) => Resource} [values] with which its form begins
 * @property {(line: Resource) => Resource | false} [line] the values with which it begins at a line;
 *   false if it is not offered there
 * @property {string} [lineLabel] name of its words at a line
 * @property {string} [at] the field with these lines, or `expected`; `lines` without it
 * @property {boolean} [isForAll] about all of these lines: it is offered while one is left
 * @property {boolean} [isOnlyAtLines] it has no button of its own beside the others
 * @property {boolean} [isShared] people do it side by side: that something else was changed meanwhile
 *   does not refuse it
 * @property {(resource: Resource, values: Resource) => string | undefined} [putsAway] the code of the
 *   warehouse in which it puts goods at positions, which are suggested
 * @property {(line: Resource) => number} [takes] how much of a line of the picking of the resource it can
 *   be about: their positions are suggested
 * @property {boolean} [each] carried out for each of these lines, one after the other
 * @property {boolean} [asksAbove] asks before it takes more than these lines have left
 * @property {(resource: Resource) => readonly Loss[]} [loses] what it gives up
 * @property {string} [leads] subject of what it makes, which is shown then
 * @property {boolean} [endsWork] ends or removes something: a dialog asks to confirm it
 */

/**
 * A write about several resources of a list.
 *
 * @typedef {object} Together
 * @property {string} operation that makes something of them, such as `POST /waves`
 * @property {string} field of its body that gets their ids
 * @property {string} label name of its words
 * @property {{operation: string, field: string, sends: Record<string, unknown>}} [first] a write for
 *   each of them, which makes what `field` gets the ids of
 * @property {readonly string[]} [asks] fields of the body that its form has; without it there is no form
 * @property {(row: Resource, body: Resource) => boolean} [isFor] whether the write can have a row: nothing
 *   is sent as long as it cannot have one of them
 * @property {(rows: readonly Resource[]) => Resource} [values] with which the form begins
 * @property {Record<string, unknown>} [sends] what it always sends
 * @property {readonly string[]} [then] operations that follow at what it has made
 */

/**
 * A resource or a line of it, as the interface shows it.
 *
 * @typedef {Record<string, any>} Resource
 *
 * @typedef {{item_code: string, qty: number}} Loss goods of a line
 *
 * @typedef {Readonly<Record<string, readonly Resource[]>>} Made subject → its first rows about a resource,
 *   as far as they are read
 */

export {};
